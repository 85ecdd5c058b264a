import { createTool } from "@mastra/core/tools";
import type { JsonObject, ToolCall } from "@soong/core";
import { isRecord } from "@soong/schema";
import {
  checkRun,
  createGate,
  followCall,
  listTools,
  loadedNames,
  NOT_OFFERED,
  packArguments,
  readOfferedNames,
  renderText,
  StreamedCalls,
  unpackInput,
  type BridgeRun,
  type CallOptions,
  type HostApprovals,
  type ListedTool,
} from "../kernel/index.ts";
import { createApprovalPauses } from "./approval-pauses.ts";
import { renderOutput, toModelOutput } from "./render-output.ts";
import { readStray, STRAY_TOOL } from "./stray-calls.ts";
import type {
  MastraModel,
  MastraSchema,
  MastraStep,
  MastraStepArgs,
  MastraTool,
  MastraToolContext,
  MastraToolOutput,
} from "./types.ts";
import { wrapModel, type AnsweredCall, type CallWatcher } from "./wrap-model.ts";

export interface MastraOptions {
  /** Mastra's own pause and resume asks for approval. Default: the session's `ask` does. */
  readonly approvals?: HostApprovals;
}

export interface MastraBridge {
  /** For `new Agent({ tools })`. */
  readonly tools: Record<string, MastraTool>;
  /** For `new Agent({ defaultOptions })`, or for each `generate` and `stream`. */
  readonly options: {
    /** Offers the tools that are loaded, and lets every call reach the kernel. */
    prepareStep<M extends MastraModel>(
      args: MastraStepArgs & { readonly model: M },
    ): Promise<MastraStep<M>>;
    /** All calls of an answer at once: the kernel orders them. */
    readonly toolCallConcurrency: number;
    /** The kernel starts calls early, and only what an answer that breaks off may leave behind. Mastra would start writes too. */
    readonly eagerToolExecution: false;
  };
}

/** More than any model makes in one answer. */
const ALL_CALLS = 1000;

export async function bridgeMastra(
  run: BridgeRun,
  { approvals }: MastraOptions = {},
): Promise<MastraBridge> {
  checkRun(run, "bridgeMastra");
  const gate = createGate(run, approvals);
  const streamed = new StreamedCalls(run, gate, { isEarly: approvals === undefined });
  const pauses = approvals && createApprovalPauses(run, approvals);
  const listed = await listTools(run);
  const schemas = new Map(listed.map(({ name, input_schema }) => [name, input_schema]));
  const wrapped = new WeakSet<object>();
  /** A function of each tool, by which it is known in the form that Mastra gives it. */
  const announcers = new Map<string, unknown>();
  const watcher: CallWatcher = {
    schemas,
    onCall: ({ id, name, arguments: text }) =>
      pauses?.noteCall({ id, name, input: JSON.parse(packArguments(text)) as unknown }),
    readNames: () => readOfferedNames(run),
    onAnswered: prepareRequest,
    openAnswer: (signal) => streamed.openAnswer(signal),
  };
  const stray = createTool<MastraTool>({
    id: STRAY_TOOL,
    description: "A call of a tool that was not offered",
    inputSchema: acceptAny({ type: "object" }),
    execute: async (input, context) =>
      executeCall(readStray(input), context, { denied: NOT_OFFERED }),
    toModelOutput,
  });

  return {
    tools: Object.fromEntries(listed.map((tool) => [tool.name, defineMastraTool(tool)])),
    options: { prepareStep, toolCallConcurrency: ALL_CALLS, eagerToolExecution: false },
  };

  function defineMastraTool({ name, description, input_schema }: ListedTool): MastraTool {
    const onInputAvailable: MastraTool["onInputAvailable"] = ({ toolCallId: id, input }) =>
      pauses?.noteCall({ id, name, input });
    announcers.set(name, onInputAvailable);
    return createTool<MastraTool>({
      id: name,
      description,
      inputSchema: acceptAny(input_schema),
      ...(pauses && { requireApproval: async (input) => pauses.needsApproval(name, input) }),
      onInputAvailable,
      async execute(input, context) {
        const isApproved = pauses?.takeApproval(context.agent?.toolCallId) === true;
        return executeCall({ name, arguments: unpackInput(input) }, context, { isApproved });
      },
      toModelOutput,
    });
  }

  async function executeCall(
    call: ToolCall,
    { agent, abortSignal, writer }: MastraToolContext,
    options: CallOptions,
  ): Promise<MastraToolOutput> {
    const id = agent?.toolCallId;
    const made = { ...call, ...(id !== undefined && { id }) };
    const followed =
      (await streamed.claim(made, abortSignal)) ??
      followCall(run, gate.push(made, { ...options, signal: abortSignal }));
    followed.onProgress((progress) => {
      // The stream may have ended.
      writer?.write({ type: "progress", ...progress }).catch(() => {});
    });
    const ended = await followed.outcome;
    // Thrown, as that is how Mastra marks a result as an error. The model gets the message.
    if (ended.result.is_error) throw new ToolCallFailed(renderText(ended));
    return renderOutput(ended);
  }

  async function prepareRequest(answered: readonly AnsweredCall[]): Promise<void> {
    streamed.closeAnswers();
    await recordDeclined(answered);
    pauses?.forgetCalls();
  }

  async function recordDeclined(calls: readonly AnsweredCall[]): Promise<void> {
    for (const { id, name, input, text } of calls) {
      if (pauses?.takeDecline(id) !== true) continue;
      await gate.refuse({ id, name, arguments: unpackInput(input) }, text);
    }
  }

  /** A step may get the model of the step before. */
  function wrapOnce<M extends MastraModel>(model: M): M {
    if (wrapped.has(model)) return model;
    const one = wrapModel(model, watcher);
    wrapped.add(one);
    return one;
  }

  /** Which of two tools runs would be left to chance. */
  function checkName(name: string, tool: unknown): void {
    if (!announcers.has(name) || !isRecord(tool)) return;
    if (tool["onInputAvailable"] === announcers.get(name)) return;
    throw new Error(
      `The agent has a tool ${name} that is not the one of this bridge. Rename it, and take tools and options from the same bridge.`,
    );
  }

  async function prepareStep<M extends MastraModel>({
    model,
    tools = {},
    activeTools,
  }: MastraStepArgs & { readonly model: M }): Promise<MastraStep<M>> {
    for (const [name, tool] of Object.entries(tools)) checkName(name, tool);
    const loaded = await loadedNames(run);
    const isOffered = (name: string): boolean =>
      (!schemas.has(name) || loaded.includes(name)) && activeTools?.includes(name) !== false;
    return {
      model: wrapOnce(model),
      tools: { ...tools, [STRAY_TOOL]: stray },
      activeTools: [...Object.keys(tools).filter(isOffered), STRAY_TOOL],
    };
  }
}

class ToolCallFailed extends Error {
  override readonly name = "ToolCallFailed";
}

function acceptAny(schema: JsonObject): MastraSchema {
  const jsonSchema = { input: () => schema, output: () => schema };
  return {
    "~standard": { version: 1, vendor: "soong", validate: (value) => ({ value }), jsonSchema },
  };
}
