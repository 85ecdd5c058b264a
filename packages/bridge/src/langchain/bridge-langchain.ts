import { AIMessage, ToolMessage, createMiddleware, tool } from "langchain";
import type { JsonObject, ToolCall } from "@soong/core";
import {
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
import { createAnswerTurns, type AnswerPlace, type CallApproval } from "./answer-turns.ts";
import { describePause, readResume } from "./approval-pause.ts";
import { findAnswer, repairCalls, type Answer, type RepairedCalls } from "./read-answer.ts";

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
  const { approvals, images = false } = options;
  const turns = createAnswerTurns(createGate(run, approvals));
  const listed = await listTools(run);
  const registered = new Map(listed.map((one) => [one.name, { ...one, tool: offerTool(one) }]));
  /** Names of tools that are not the kernel's: their calls are executed by LangChain. */
  const others = new Set<string>();
  /** Calls that paused in this process: the plan that the user was shown is the one to compare with. */
  const paused = new Set<string>();

  return {
    tools: [...registered.values()].map((one) => one.tool),
    middleware: createMiddleware({ name: "soong", wrapModelCall, wrapToolCall }),
  };

  async function wrapModelCall(request: ModelRequest, handler: ModelHandler): Promise<unknown> {
    const foreign = request.tools.filter(({ name }) => !registered.has(String(name)));
    for (const { name } of foreign) others.add(String(name));
    const loaded = (await listTools(run)).filter(({ is_loaded }) => is_loaded);
    const response = await handler({ ...request, tools: [...foreign, ...loaded.map(findTool)] });
    if (!AIMessage.isInstance(response)) return response;
    const repaired = repairCalls(response);
    return repaired === undefined ? response : withCalls(response, repaired);
  }

  async function wrapToolCall(
    request: ToolCallRequest,
    handler: ToolCallHandler,
  ): Promise<unknown> {
    if (request.tool !== undefined) return handler(request);
    const { name } = request.toolCall;
    // No tool of LangChain's: the kernel may have it by now, and else tells the model which ones there are.
    return handler({ ...request, tool: executeWithin({ name, description: name }) });
  }

  /** What LangChain holds under a name cannot be replaced, but it takes a plain definition in its place. */
  function findTool(now: ListedTool): object {
    const known = registered.get(now.name);
    const { name, description, input_schema: schema } = now;
    const isSame =
      known !== undefined &&
      known.description === description &&
      JSON.stringify(known.input_schema) === JSON.stringify(schema);
    return isSame ? known.tool : { name, description, schema };
  }

  function offerTool({ name, description, input_schema }: ListedTool): LangChainTool {
    const inner = executeWithin({ name, description });
    const offered = tool(execute, { name, description, schema: input_schema });
    return Object.assign(offered, {
      invoke: async (input: unknown, config?: unknown) => inner.invoke(input, config),
    });
  }

  /** LangChain's tool for its callbacks, without its validation: the kernel validates, and explains more. */
  function executeWithin({ name, description }: { name: string; description: string }) {
    return tool(execute, { name, description, schema: {} });
  }

  async function execute(input: unknown, given: unknown): Promise<ToolMessage> {
    const config = given as ToolConfig;
    const { id, name } = config.toolCall ?? {};
    const answer = findAnswer(config.state, id);
    const raw = id === undefined ? undefined : answer?.raw.get(id);
    const call: ToolCall = {
      ...(id !== undefined && { id }),
      name: name ?? "",
      arguments: raw ?? input,
    };
    let stopWatching = (): void => {};
    const outcome = await turns.execute({
      call,
      place: findPlace(answer, config),
      signal: config.signal,
      decide: () => decideApproval(call, config),
      onPushed: (tool_call_id) => {
        const { run_id } = run.identity;
        stopWatching = watchProgress(run.session, { run_id, tool_call_id }, (progress) =>
          showProgress(config, call, progress),
        );
      },
    });
    stopWatching();
    return new ToolMessage({
      tool_call_id: id ?? outcome.result.tool_call_id,
      name: call.name,
      content: images ? renderContent(outcome) : renderText(outcome),
      status: outcome.result.is_error ? "error" : "success",
    });
  }

  async function decideApproval(call: ToolCall, config: ToolConfig): Promise<CallApproval> {
    if (approvals === undefined || config.interrupt === undefined) return {};
    const key = `${findThread(config)}/${String(call.id)}`;
    if (!paused.has(key)) {
      // What cannot be planned is refused by the kernel.
      if (!(await approvals.needsApproval(run, call).catch(() => false))) return {};
      paused.add(key);
    }
    const args = config.toolCall?.args ?? {};
    const resume: unknown = config.interrupt(describePause({ id: call.id, name: call.name, args }));
    paused.delete(key);
    return readResume(resume);
  }

  function findPlace(answer: Answer | undefined, config: ToolConfig): AnswerPlace | undefined {
    if (answer?.id === undefined) return undefined;
    const at = answer.calls.findIndex((one) => one.id === config.toolCall?.id);
    const pending = answer.calls.filter(
      ({ id, name }) => !others.has(name) && (id === undefined || !answer.answered.has(id)),
    );
    return {
      answer: `${findThread(config)}/${answer.id}`,
      at,
      expected: Math.min(pending.length, config.maxConcurrency ?? Infinity),
    };
  }
}

/** What `tool` passes to its function, as far as it is used here. */
interface ToolConfig {
  readonly toolCall?: {
    readonly id?: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  readonly state?: unknown;
  readonly signal?: AbortSignal;
  readonly maxConcurrency?: number;
  readonly configurable?: { readonly thread_id?: unknown };
  /** Throws to pause; returns what the graph is resumed with. */
  readonly interrupt?: (value: unknown) => unknown;
  readonly writer?: (chunk: unknown) => void;
}

interface ModelRequest {
  readonly tools: readonly Readonly<Record<string, unknown>>[];
}

type ModelHandler = (request: object) => Promise<unknown>;

interface ToolCallRequest {
  readonly toolCall: { readonly name: string };
  readonly tool: unknown;
}

type ToolCallHandler = (request: object) => Promise<unknown>;

function findThread({ configurable }: ToolConfig): string {
  return JSON.stringify(configurable?.thread_id ?? "");
}

/** A streamed one becomes a whole message, which keeps these calls. */
function withCalls(message: AIMessage, calls: RepairedCalls): AIMessage {
  const { content, id, name, additional_kwargs, response_metadata, usage_metadata } = message;
  return new AIMessage({
    content,
    id,
    name,
    additional_kwargs,
    response_metadata,
    usage_metadata,
    ...calls,
  });
}

/** In the stream mode `custom`. */
function showProgress({ writer }: ToolConfig, { id, name }: ToolCall, progress: Progress): void {
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
