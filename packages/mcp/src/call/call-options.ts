// A request to a server made on behalf of one call of ours (MCP-4, MCP-5): its progress is the call's, its
// questions go to the caller, and all of it ends with the call.

import { messageOf, type FactContent, type JsonObject, type ToolContext } from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { inTime } from "@soong/platform";
import { safeLine } from "../catalog/index.ts";
import {
  McpRequestFailure,
  type HostRequest,
  type QuestionOptions,
  type ToolCallOptions,
} from "../connection/index.ts";
import { answerElicitation } from "./answer-elicitation.ts";
import type { HostClient, McpHost } from "./host-client.ts";
import { isRootsList, isSampledMessage, readSampling } from "./sampling-request.ts";

export interface AskingCall {
  readonly server_id: string;
  readonly timeoutMs: number;
  readonly host?: McpHost | undefined;
  /** Takes what a server asked of the host, and what came of it. */
  readonly record?: RecordHostRequest | undefined;
}

export type RecordHostRequest = (fact: FactContent<"mcp.server.host_request">) => void;

const MAX_PREVIEW_CHARS = 200;
const MAX_LOG_CHARS = 4_000;
const MAX_READ_CHARS = 64 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** What a server receives: -1, which the protocol uses for a refusal by the user. */
const REJECTED = -1;
const INVALID_PARAMS = -32_602;

export function callOptions(call: AskingCall, context: ToolContext): ToolCallOptions {
  const { runId: run_id, toolCallId: tool_call_id, toolName: tool_name, signal } = context;
  const client = call.host?.clientOf({ run_id, tool_call_id });
  return {
    signal,
    timeoutMs: call.timeoutMs,
    onProgress: ({ progress, total, message }) =>
      context.progress({
        progress,
        total,
        message,
      }),
    onElicitation: (question, { signal: until, key }) =>
      answerElicitation(key === undefined ? question : { ...question, key }, context, until),
    ...(client === undefined ? {} : askedOf(client)),
  };

  function askedOf(asked: HostClient): Partial<ToolCallOptions> {
    const { sampling, roots, identity, logLevel } = asked;
    return {
      ...(logLevel === undefined ? {} : { logLevel, onLog }),
      asker: identity,
      onQuestions: (keys) => asked.expect?.(keys) ?? (() => {}),
      host: { sampling, roots, answer: (request, options) => askHost(asked, request, options) },
    };
  }

  /** Through the record, like all progress: redacted there, and no more than a journal should hold. */
  function onLog({ level, logger, data = null }: JsonObject): void {
    const isShort = (JSON.stringify(data) ?? "").length <= MAX_LOG_CHARS;
    const log: JsonObject = {
      level: typeof level === "string" ? safeLine(level, 20) : "info",
      ...(typeof logger === "string" ? { logger: safeLine(logger, 200) } : {}),
      data: isShort ? data : "(too long to pass on)",
    };
    context.progress({ data: { log } });
  }

  async function askHost(
    asked: HostClient,
    request: HostRequest,
    options: QuestionOptions,
  ): Promise<JsonObject> {
    const passed = readRequest(request);
    try {
      if (!passed.ok) throw new McpRequestFailure("refused", passed.why, { code: INVALID_PARAMS });
      const answer = await context.waitForPerson(untilAborted(asked, passed.request, options));
      const isAnswer = request.method === "roots/list" ? isRootsList : isSampledMessage;
      if (!isAnswer(answer))
        throw new Error("the client's answer is not what the protocol asks for");
      record(request, "answered");
      return answer;
    } catch (error) {
      const isOver = options.signal.aborted;
      const why = isOver ? "the question was taken back" : messageOf(error);
      const message = context.redact(safeLine(why, MAX_MESSAGE_CHARS));
      record(request, isOver ? "withdrawn" : "refused", message);
      if (error instanceof McpRequestFailure) throw error;
      const about = `the caller did not answer ${request.method}: ${message}`;
      throw new McpRequestFailure("refused", about, { code: codeOf(error) });
    }
  }

  function readRequest(
    request: HostRequest,
  ): { ok: true; request: HostRequest } | { ok: false; why: string } {
    if (request.method === "roots/list") return { ok: true, request };
    const read = readSampling(request.params, context.redact);
    return read.ok ? { ok: true, request: { ...request, params: read.params } } : read;
  }

  function record(request: HostRequest, outcome: string, message?: string): void {
    const data = {
      server_id: call.server_id,
      run_id,
      tool_call_id,
      tool_name,
      method: request.method,
      outcome,
      ...previewOf(request),
      ...omitUndefined({ message }),
    };
    const level = outcome === "answered" ? "info" : "warn";
    call.record?.({ type: "mcp.server.host_request", data, level });
  }

  function previewOf(request: HostRequest): { preview?: string; max_tokens?: number } {
    if (request.method === "roots/list") return {};
    const { messages, maxTokens } = request.params;
    const last = Array.isArray(messages) ? messages.at(-1) : undefined;
    const content = isJsonObject(last) ? last["content"] : undefined;
    const text = isJsonObject(content) ? content["text"] : undefined;
    const words = typeof text === "string" ? text : JSON.stringify(content ?? null);
    return {
      // Cut after it is redacted: half a secret is not recognised.
      preview: safeLine(context.redact(words.slice(0, MAX_READ_CHARS)), MAX_PREVIEW_CHARS),
      ...(typeof maxTokens === "number" ? { max_tokens: maxTokens } : {}),
    };
  }
}

/** The end of a cancelled call waits until the server has received the cancellation. */
export function awaitOnCancel(answer: Promise<unknown>, context: ToolContext): void {
  context.onCancel(() =>
    answer.then(
      () => {},
      () => {},
    ),
  );
}

/** The client's own, where it gave one. */
function codeOf(error: unknown): number {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" && Number.isInteger(code) ? code : REJECTED;
}

async function untilAborted(
  client: HostClient,
  request: HostRequest,
  options: QuestionOptions,
): Promise<JsonObject> {
  const { signal } = options;
  const answer = signal.aborted
    ? undefined
    : await inTime(client.ask(request, options), { signal });
  if (answer?.kind === "done") return answer.value;
  throw new Error("the question was taken back");
}
