import { AIMessage, ToolMessage, createMiddleware, tool } from "langchain";
import type { JsonObject, ToolCall } from "@soong/core";
import {
  NOT_OFFERED,
  checkRun,
  createGate,
  listTools,
  renderBlocks,
  renderText,
  watchProgress,
  type BridgeRun,
  type CallOutcome,
  type HostApprovals,
  type ListedTool,
  type Progress,
} from "../kernel/index.ts";
import { AnswerPlaces, chooseCallId } from "./answer-places.ts";
import { createAnswerTurns, type AnswerPlace } from "./answer-turns.ts";
import { describePause } from "./approval-pause.ts";
import { chooseDefinition, findNotOffered, readRequestedTools } from "./offered-tools.ts";
import { createApprovalPauses, type PlacedCall } from "./pause-calls.ts";
import {
  NOT_OFFERED_KEY,
  findAnswer,
  readCalls,
  repairCalls,
  type Answer,
  type RepairedCalls,
} from "./read-answer.ts";
import { findTask, findThread, type ToolConfig } from "./tool-config.ts";

export interface LangChainOptions {
  /** Pause with LangGraph's `interrupt` for what requires approval; default: the session's `ask` answers. */
  readonly approvals?: HostApprovals;
  /** Send images to the model. Default: one line of text instead, as OpenAI's chat completions take no images in results. */
  readonly images?: boolean;
}

/** For `createAgent({ tools })`. A type, not an interface, as LangChain takes any record for a tool. */
export type LangChainTool = {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
  invoke(input: unknown, config?: unknown): Promise<unknown>;
};

/** For `createAgent({ middleware })`. */
export interface LangChainMiddleware {
  readonly name: string;
}

export interface LangChainBridge {
  /** All tools of the run, deferred ones too: which of them the model gets is up to the middleware. */
  readonly tools: LangChainTool[];
  readonly middleware: LangChainMiddleware;
}

export async function bridgeLangChain(
  run: BridgeRun,
  options: LangChainOptions = {},
): Promise<LangChainBridge> {
  checkRun(run, "bridgeLangChain");
  const { approvals, images = false } = options;
  const turns = createAnswerTurns(createGate(run, approvals));
  const places = new AnswerPlaces();
  const decideApproval = approvals && createApprovalPauses(run, approvals);
  const listed = await listTools(run);
  const registered = new Map(listed.map((one) => [one.name, { ...one, tool: offerTool(one) }]));
  /** Names of tools that are not the kernel's: their calls are executed by LangChain. */
  const others = new Set<string>();

  return {
    tools: [...registered.values()].map((one) => one.tool),
    middleware: createMiddleware({ name: "soong", wrapModelCall, wrapToolCall }),
  };

  async function wrapModelCall(request: ModelRequest, handler: ModelHandler): Promise<unknown> {
    const requested = readRequestedTools(request.tools, registered);
    for (const { name } of requested.foreign) others.add(String(name));
    const { names } = await run.tools();
    const offered = (await listTools(run)).filter(
      ({ name, is_loaded }) => is_loaded && requested.mayUse(name),
    );
    const definitions = offered.map((now) => chooseDefinition(registered.get(now.name), now));
    const response = await handler({ ...request, tools: [...requested.foreign, ...definitions] });
    if (!AIMessage.isInstance(response)) return response;
    const repaired = repairCalls(response);
    const calls = repaired?.tool_calls ?? readCalls(response.tool_calls);
    const called = calls.map(({ name }) => name);
    return rewriteAnswer(response, repaired, findNotOffered(called, requested, run, names));
  }

  async function wrapToolCall(
    request: ToolCallRequest,
    handler: ToolCallHandler,
  ): Promise<unknown> {
    if (request.tool !== undefined) return handler(request);
    const { name } = request.toolCall;
    // LangChain has no such tool. The kernel may have it by now, and else tells the model which ones there are.
    const isGiven = !registered.has(name);
    return handler({ ...request, tool: executeWithin({ name, description: name }, { isGiven }) });
  }

  function offerTool({ name, description, input_schema }: ListedTool): LangChainTool {
    const inner = executeWithin({ name, description });
    const offered = tool(async (input, config) => execute(input, config), {
      name,
      description,
      schema: input_schema,
    });
    return Object.assign(offered, {
      invoke: async (input: unknown, config?: unknown) => inner.invoke(input, config),
    });
  }

  /** LangChain's tool for its callbacks, without its validation: the kernel validates, and explains more. */
  function executeWithin(
    { name, description }: { name: string; description: string },
    { isGiven } = { isGiven: true },
  ) {
    const within = async (input: unknown, config: unknown) => execute(input, config, isGiven);
    return tool(within, { name, description, schema: {} });
  }

  async function execute(input: unknown, given: unknown, isGiven = true): Promise<ToolMessage> {
    const config = given as ToolConfig;
    const { id, name = "", args = {} } = config.toolCall ?? {};
    const answer = findAnswer(config.state, { id, name });
    const place = findPlace(answer, config);
    const isOffered = isGiven && answer?.notOffered.has(name) !== true;
    const raw = id === undefined ? undefined : answer?.raw.get(id);
    const recorded = (answer && place && chooseCallId(answer.calls, place.at)) ?? id;
    const call: ToolCall = {
      ...(recorded !== undefined && { id: recorded }),
      name,
      arguments: raw ?? input,
    };
    let stopWatching = (): void => {};
    const outcome = await turns.execute({
      call,
      place,
      signal: config.signal,
      decide: async () => {
        if (!isOffered) return { denied: NOT_OFFERED };
        const pause = describePause({ id, name, args });
        const pausing = { call, config, pause, place, listCalls: () => listOwnCalls(answer) };
        return (await decideApproval?.(pausing)) ?? {};
      },
      onPushed: (tool_call_id) => {
        const { run_id } = run.identity;
        stopWatching = watchProgress(run.session, { run_id, tool_call_id }, (progress) =>
          showProgress(config, { id, name }, progress),
        );
      },
    });
    stopWatching();
    const rendered = images ? renderContent(outcome) : renderText(outcome);
    return new ToolMessage({
      tool_call_id: id ?? outcome.result.tool_call_id,
      name,
      content: rendered,
      status: outcome.result.is_error ? "error" : "success",
    });
  }

  function findPlace(answer: Answer | undefined, config: ToolConfig): AnswerPlace | undefined {
    const { toolCall, maxConcurrency = Infinity } = config;
    if (answer?.id === undefined || toolCall === undefined) return undefined;
    const key = `${findThread(config)}/${answer.id}`;
    const at = places.find(key, answer.calls, { ...toolCall, task: findTask(config) });
    const pending = answer.calls.filter(
      ({ id, name }) => !others.has(name) && (id === undefined || !answer.answered.has(id)),
    );
    return { answer: key, at, expected: Math.min(pending.length, maxConcurrency) };
  }

  function listOwnCalls(answer: Answer | undefined): PlacedCall[] {
    if (answer === undefined) return [];
    const { calls, notOffered } = answer;
    return calls.flatMap(({ name }, at) =>
      others.has(name) || notOffered.has(name) ? [] : [{ at, call: createCall(answer, at) }],
    );
  }
}

/** A call of the answer as the kernel gets it. */
function createCall({ calls, raw }: Answer, at: number): ToolCall {
  const { id, name = "", args } = calls[at] ?? {};
  const recorded = chooseCallId(calls, at);
  return {
    ...(recorded !== undefined && { id: recorded }),
    name,
    arguments: (id === undefined ? undefined : raw.get(id)) ?? args,
  };
}

interface ModelRequest {
  readonly tools: readonly Readonly<Record<string, unknown>>[];
}

type ModelHandler = (request: object) => Promise<unknown>;

interface ToolCallRequest {
  readonly toolCall: { readonly name: string };
  /** What LangChain has under this name. */
  readonly tool: unknown;
}

type ToolCallHandler = (request: object) => Promise<unknown>;

/** A streamed one becomes a whole message, which keeps these calls. */
function rewriteAnswer(
  message: AIMessage,
  repaired: RepairedCalls | undefined,
  notOffered: readonly string[],
): AIMessage {
  if (repaired === undefined && notOffered.length === 0) return message;
  const { content, id, name, additional_kwargs, response_metadata, usage_metadata } = message;
  const { tool_calls, invalid_tool_calls } = repaired ?? message;
  return new AIMessage({
    content,
    id,
    name,
    additional_kwargs,
    response_metadata: {
      ...response_metadata,
      ...(notOffered.length > 0 && { [NOT_OFFERED_KEY]: notOffered }),
    },
    usage_metadata,
    tool_calls,
    invalid_tool_calls,
  });
}

/** In the stream mode `custom`. */
function showProgress(
  { writer }: ToolConfig,
  { id, name }: { id: string | undefined; name: string },
  progress: Progress,
): void {
  writer?.({ type: "tool_progress", tool_call_id: id, tool_name: name, ...progress });
}

/** The form of images that all of LangChain's providers take. */
function renderContent(outcome: CallOutcome): string | JsonObject[] {
  const blocks = renderBlocks(outcome);
  if (!blocks.some(({ type }) => type === "image")) return renderText(outcome);
  return blocks.map((block): JsonObject =>
    block.type === "image"
      ? { type: "image_url", image_url: { url: `data:${block.media_type};base64,${block.data}` } }
      : {
          type: "text",
          text: renderText({ result: { ...outcome.result, content: [block] }, added: [] }),
        },
  );
}
