import { tool } from "@openai/agents";
import type { JsonObject, RefusedCall } from "@soong/core";
import {
  checkRun,
  createApprovalCheck,
  createGate,
  followCall,
  listTools,
  loadedNames,
  NOT_OFFERED,
  readOfferedNames,
  renderText,
  StreamedCalls,
  unpackArguments,
  unpackInput,
  type BridgeRun,
  type HostApprovals,
  type ListedTool,
  type Progress,
} from "../kernel/index.ts";
import { renderOutput } from "./render-output.ts";
import type {
  AgentsModel,
  AgentsParameters,
  AgentsRunOptions,
  AgentsTool,
  AgentsToolError,
} from "./types.ts";
import { wrapModel, type SeenCall } from "./wrap-model.ts";

export interface OpenAiAgentsOptions {
  /** The SDK's own interruptions ask for approval. Default: the session's `ask` does. */
  readonly approvals?: HostApprovals;
  /** The SDK has no place for the progress of a function tool. */
  readonly onProgress?: (progress: AgentsProgress) => void;
}

export interface AgentsProgress extends Progress {
  readonly tool_call_id: string;
  /** The wire name. */
  readonly tool_name: string;
}

export interface OpenAiAgentsBridge {
  /** For `new Agent({ tools })`. */
  readonly tools: AgentsTool[];
  /** For `new Agent({ model })`: lets calls with malformed arguments or repeated ids reach the kernel. */
  model<M extends AgentsModel>(model: M): M;
  /** For `run(agent, input, options)`: what the kernel says to unknown tools and about refused calls. */
  readonly runOptions: AgentsRunOptions;
}

export async function bridgeOpenAiAgents(
  run: BridgeRun,
  { approvals, onProgress }: OpenAiAgentsOptions = {},
): Promise<OpenAiAgentsBridge> {
  checkRun(run, "bridgeOpenAiAgents");
  const gate = createGate(run, approvals);
  const streamed = new StreamedCalls(run, gate, { isEarly: approvals === undefined });
  const checkApproval = approvals && createApprovalCheck(run, approvals);
  /** Calls that the SDK may ask its user about: if they are rejected, it does not say their arguments. */
  const seen = new Map<string, SeenCall>();
  /** Calls of tools that were not in the request. */
  const strays = new Map<string, SeenCall>();
  /** Ids of refused calls that are not on record yet, with the reason. */
  const unrecorded = new Map<string, RefusedCall | undefined>();
  /** The wrapper of the model leaves out what is not loaded. */
  let hidesDeferred = false;
  const listed = await listTools(run);
  const tools = listed.map(defineAgentsTool);
  const schemas = new Map(tools.map(({ name, parameters }) => [name, parameters]));

  return {
    tools,
    model: (model) => {
      hidesDeferred = true;
      return wrapModel(model, {
        schemas,
        readNames: () => readOfferedNames(run),
        onStrayCall: (call) => void strays.set(call.id, call),
        onRequest: prepareRequest,
        openAnswer: (signal) => streamed.openAnswer(signal),
      });
    },
    runOptions: { toolNotFoundBehavior: "return_error_to_model", toolErrorFormatter },
  };

  function defineAgentsTool({ name, description, input_schema }: ListedTool): AgentsTool {
    const parameters = shapeParameters(input_schema);
    return {
      type: "function",
      name,
      description,
      parameters,
      strict: false,
      needsApproval:
        checkApproval === undefined
          ? neverNeedsApproval(name, parameters)
          : async (_context, input, callId) => {
              const call = { name, arguments: unpackInput(input) };
              if (callId === undefined) return checkApproval(call);
              if (strays.has(callId)) return false;
              seen.set(callId, { ...call, id: callId });
              return checkApproval({ ...call, id: callId });
            },
      // The SDK cannot read the state of a paused run if a tool in it is not enabled.
      isEnabled: async () => hidesDeferred || (await loadedNames(run)).includes(name),
      async invoke(context, input, details) {
        const callId = details?.toolCall?.callId;
        const call = { name, arguments: unpackArguments(input), ...(callId && { id: callId }) };
        const isApproved =
          approvals !== undefined &&
          callId !== undefined &&
          context.isToolApproved({ toolName: name, callId }) === true;
        const signal = details?.signal;
        const answer = strays.delete(callId ?? "") ? { denied: NOT_OFFERED } : { isApproved };
        const followed =
          (await streamed.claim(call, signal)) ??
          followCall(run, gate.push(call, { signal, ...answer }));
        const tool_call_id = callId ?? followed.tool_call_id;
        followed.onProgress((progress) =>
          onProgress?.({ ...progress, tool_call_id, tool_name: name }),
        );
        const ended = await followed.outcome;
        if (callId !== undefined) seen.delete(callId);
        return renderOutput(ended);
      },
    };
  }

  async function toolErrorFormatter({ kind, toolName, callId }: AgentsToolError) {
    const isStray = kind === "tool_not_found";
    const isRejected = kind === "approval_rejected" && schemas.has(toolName);
    if (!isStray && !isRejected) return undefined;
    const calls = isStray ? strays : seen;
    const call = calls.get(callId);
    calls.delete(callId);
    const reason = isStray ? NOT_OFFERED : undefined;
    if (call !== undefined) return renderText(await gate.refuse(call, reason));
    // After a restart its arguments are not known before the next request. Meanwhile the model gets the SDK's own text.
    unrecorded.set(callId, reason);
    return undefined;
  }

  async function prepareRequest(calls: readonly SeenCall[]): Promise<void> {
    streamed.closeAnswers();
    await recordRefused(calls);
  }

  /** The SDK asks the model again when every call has its result: what has not been executed was refused. */
  async function recordRefused(calls: readonly SeenCall[]): Promise<void> {
    for (const call of calls) {
      const reason = unrecorded.get(call.id);
      // Its user wrote the text, so that no one asked for ours.
      const isRefused = schemas.has(call.name) && seen.delete(call.id);
      if (unrecorded.delete(call.id) || isRefused) await gate.refuse(call, reason);
    }
  }
}

/**
 * The SDK's own function. With any other one it asks the user about each call whose arguments are no JSON object.
 */
function neverNeedsApproval(
  name: string,
  parameters: AgentsParameters,
): AgentsTool["needsApproval"] {
  const options = {
    name,
    description: "",
    parameters,
    strict: false,
    needsApproval: false,
  } as const;
  return tool({ ...options, execute: () => "" }).needsApproval;
}

/** With the members that the SDK and some providers insist on. */
function shapeParameters(schema: JsonObject): AgentsParameters {
  const shaped: JsonObject = { properties: {}, required: [], ...schema, type: "object" };
  // Typed as the SDK has it: it checks nothing of that, and `additionalProperties` is the schema's own.
  return shaped as AgentsParameters & JsonObject;
}
