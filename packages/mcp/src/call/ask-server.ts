// A request to a server made on behalf of one call of ours (MCP-4, MCP-5): its progress is the call's, its
// questions go to the caller, and all of it ends with the call. What servers want of a host (a message of its model,
// its roots) nothing of ours answers: the gateway passes it to the client whose call it is, or the program that uses
// us gives a port of its own.

import {
  messageOf,
  type FactContent,
  type HandlerResult,
  type JsonObject,
  type JsonValue,
  type ToolContext,
} from "@soong/core";
import { isJsonObject, omitUndefined } from "@soong/schema";
import { inTime } from "@soong/platform";
import { safeLine } from "../catalog/safe-text.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type {
  HostRequest,
  QuestionOptions,
  ToolCallOptions,
} from "../connection/connected-server.ts";
import { answerElicitation, openRequiredUrls } from "./answer-elicitation.ts";
import { toToolFailure } from "./call-failure.ts";

export interface McpHost {
  /** The client that made this call; undefined where no one answers for it. */
  clientOf(call: {
    readonly run_id: string;
    readonly tool_call_id: string;
  }): HostClient | undefined;
}

export interface HostClient {
  /** The same for all calls of one client. */
  readonly identity: unknown;
  readonly sampling: boolean;
  readonly roots: boolean;
  /** How much of what its server logs during the call it wants to hear; default: nothing. */
  readonly logLevel?: string | undefined;
  /** Resolves with the result as the protocol has it. Rejects when the client refuses or is gone. */
  ask(request: HostRequest, options: QuestionOptions): Promise<JsonObject>;
  /**
   * Questions of the call are about to come together, under these names, elicitation among them. What it returns
   * is called for each that has been handled, whether or not it came this way.
   */
  expect?(keys: readonly string[]): (key: string) => void;
}

export interface AskingCall {
  readonly server_id: string;
  readonly timeoutMs: number;
  /** Decides what a lost answer means: a read can be asked for again. */
  readonly isReadonly: boolean;
  readonly host?: McpHost | undefined;
  /** Takes what a server asked of the host, and what came of it. */
  readonly record?: RecordHostRequest;
}

export type RecordHostRequest = (fact: FactContent<"mcp.server.host_request">) => void;

const MAX_PREVIEW_CHARS = 200;
const MAX_LOG_CHARS = 4_000;
const MAX_READ_CHARS = 64 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** What a server receives: -1, which the protocol uses for a refusal by the user. */
const REJECTED = -1;
const INVALID_PARAMS = -32_602;

/** Throws a ToolFailure for anything that is not an answer. `opensPages`: how often a server may ask for pages first. */
export async function askServer(
  call: AskingCall,
  context: ToolContext,
  work: {
    readonly send: (options: ToolCallOptions) => Promise<JsonObject>;
    readonly read: (answer: JsonObject) => Promise<HandlerResult>;
    readonly opensPages?: number;
  },
): Promise<HandlerResult> {
  for (let left = work.opensPages ?? 0; ; left -= 1) {
    try {
      const answer = work.send(callOptions(call, context));
      // The end of a cancelled call waits until the server has received the cancellation.
      context.onCancel(() =>
        answer.then(
          () => {},
          () => {},
        ),
      );
      return await work.read(await answer);
    } catch (error) {
      if (!(error instanceof McpRequestFailure)) throw error;
      // The server has refused before doing anything: this is the one error after which it is asked again.
      if (left > 0 && (await openRequiredUrls(error, context))) continue;
      throw toToolFailure(error, call, context.toolName);
    }
  }
}

function callOptions(call: AskingCall, context: ToolContext): ToolCallOptions {
  const { runId: run_id, toolCallId: tool_call_id, toolName: tool_name, signal } = context;
  const client = call.host?.clientOf({ run_id, tool_call_id });
  return {
    signal,
    timeoutMs: call.timeoutMs,
    onProgress: ({ progress, total, message }) => context.progress({ progress, total, message }),
    onElicitation: (question, { signal: until, key }) =>
      answerElicitation(key === undefined ? question : { ...question, key }, context, until),
    ...(client && optionsFor(client)),
  };

  function optionsFor(client: HostClient): Partial<ToolCallOptions> {
    const { sampling, roots, identity, logLevel } = client;
    return {
      ...(logLevel !== undefined && { logLevel, onLog }),
      asker: identity,
      onQuestions: (keys) => client.expect?.(keys) ?? (() => {}),
      host: { sampling, roots, answer: (request, options) => askHost(client, request, options) },
    };
  }

  /** Through the record, like all progress: redacted there, and no more than a journal should hold. */
  function onLog({ level, logger, data = null }: JsonObject): void {
    const isShort = JSON.stringify(data).length <= MAX_LOG_CHARS;
    const log: JsonObject = {
      level: typeof level === "string" ? safeLine(level, 20) : "info",
      ...(typeof logger === "string" && { logger: safeLine(logger, 200) }),
      data: isShort ? data : "(too long to pass on)",
    };
    context.progress({ data: { log } });
  }

  async function askHost(
    client: HostClient,
    request: HostRequest,
    options: QuestionOptions,
  ): Promise<JsonObject> {
    const { signal } = options;
    const isSampling = request.method === "sampling/createMessage";
    try {
      const passed = isSampling
        ? { ...request, params: readSampling(request.params, context.redact) }
        : request;
      const asked = signal.aborted ? undefined : inTime(client.ask(passed, options), { signal });
      const answer = await context.waitForUser(asked ?? Promise.resolve(undefined));
      if (answer?.kind !== "done") throw new Error("the question was taken back");
      if (!(isSampling ? isSampledMessage : isRootsList)(answer.value)) {
        throw new Error("the client's answer is not what the protocol asks for");
      }
      record(request, "answered");
      return answer.value;
    } catch (error) {
      const isOver = signal.aborted;
      const why = isOver ? "the question was taken back" : messageOf(error);
      const message = context.redact(safeLine(why, MAX_MESSAGE_CHARS));
      record(request, isOver ? "withdrawn" : "refused", message);
      if (error instanceof McpRequestFailure) throw error;
      // The client's own code, where it gave one.
      const code = (error as { code?: unknown } | undefined)?.code;
      const about = `the caller did not answer ${request.method}: ${message}`;
      const given = typeof code === "number" && Number.isInteger(code) ? code : REJECTED;
      throw new McpRequestFailure("refused", about, { code: given });
    }
  }

  function record(request: HostRequest, outcome: string, message?: string): void {
    const { server_id } = call;
    const { method } = request;
    const about = { server_id, run_id, tool_call_id, tool_name, method, outcome };
    call.record?.({
      type: "mcp.server.host_request",
      data: { ...about, ...preview(request), ...omitUndefined({ message }) },
      level: outcome === "answered" ? "info" : "warn",
    });
  }

  function preview(request: HostRequest): { preview?: string; max_tokens?: number } {
    if (request.method === "roots/list") return {};
    const { messages, maxTokens } = request.params;
    const last = Array.isArray(messages) ? messages.at(-1) : undefined;
    const content = isJsonObject(last) ? last["content"] : undefined;
    const text = isJsonObject(content) ? content["text"] : undefined;
    const words = typeof text === "string" ? text : JSON.stringify(content ?? null);
    return {
      // Cut after it is redacted: half a secret is not recognised.
      preview: safeLine(context.redact(words.slice(0, MAX_READ_CHARS)), MAX_PREVIEW_CHARS),
      ...(typeof maxTokens === "number" && { max_tokens: maxTokens }),
    };
  }
}

const MAX_CHARS = 2 * 1024 * 1024;
const MAX_ITEMS = 1_000;
const MAX_DEPTH = 50;
const PASSED_ON = [
  "messages",
  "systemPrompt",
  "modelPreferences",
  "maxTokens",
  "temperature",
  "stopSequences",
  "metadata",
];

/**
 * A server's wish for a message of the host's model, as it is passed on: what the protocol knows, bounded and
 * redacted, without what reaches further than this server (the context of others, tools).
 */
function readSampling(given: JsonObject, redact: (text: string) => string): JsonObject {
  const { messages, maxTokens, tools, toolChoice } = given;
  if (tools !== undefined || toolChoice !== undefined)
    throw refuse("sampling with tools is not offered");
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_ITEMS) {
    throw refuse(`messages must be a list of 1 to ${MAX_ITEMS}`);
  }
  if (typeof maxTokens !== "number") throw refuse("maxTokens must be a number");
  const params = Object.fromEntries(
    Object.entries(given).filter(([key]) => PASSED_ON.includes(key)),
  );
  if (JSON.stringify(params).length > MAX_CHARS) {
    throw refuse(`the request is longer than ${MAX_CHARS} characters`);
  }
  return redactTexts(params, redact) as JsonObject;

  function refuse(why: string): McpRequestFailure {
    return new McpRequestFailure("refused", why, { code: INVALID_PARAMS });
  }
}

/** Bytes are unchanged: text found in base64 is not text. */
function redactTexts(value: JsonValue, redact: (text: string) => string, depth = 0): JsonValue {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "(too deep)";
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact, depth + 1));
  const isMedia = value["type"] === "image" || value["type"] === "audio";
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => {
      const isBytes = isMedia && key === "data";
      return [key, isBytes ? held : redactTexts(held, redact, depth + 1)];
    }),
  );
}

// The answers to such wishes, checked as far as we vouch for their shape.

function isSampledMessage(result: JsonObject): boolean {
  const { role, content, model } = result;
  return (
    (role === "assistant" || role === "user") &&
    (isJsonObject(content) || Array.isArray(content)) &&
    typeof model === "string" &&
    JSON.stringify(result).length <= MAX_CHARS
  );
}

function isRootsList({ roots }: JsonObject): boolean {
  return (
    Array.isArray(roots) &&
    roots.length <= MAX_ITEMS &&
    roots.every((root) => {
      const uri = isJsonObject(root) ? root["uri"] : undefined;
      return typeof uri === "string" && uri.startsWith("file://");
    })
  );
}
