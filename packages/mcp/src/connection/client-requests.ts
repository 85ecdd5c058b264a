// The requests to a connected server: pages of tools, calls, and the questions a server has during a call.
// A call is sent once; in the newer era its answer may be a question, and the call goes on with the reply.

import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import type { Clock, JsonObject, JsonValue } from "@soong/core";
import { startCallTimer, type CallTimer } from "./call-timer.ts";
import type {
  AnswerElicitation,
  ConnectedServer,
  McpProgress,
  ToolCallOptions,
  ToolCallRequest,
  ToolsPage,
} from "./connected-server.ts";
import { answerElicitation } from "./elicitation.ts";
import { McpRequestFailure } from "./failure.ts";
import { rawResult } from "./raw-results.ts";
import { requestFailure } from "./request-failure.ts";

export interface RequestParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly listTimeoutMs: number;
  readonly secrets: readonly string[];
  /** Why the server is gone, once it is. */
  readonly end: () => string | undefined;
  readonly onAnswered: () => void;
  readonly onLost: (failure: McpRequestFailure) => void;
}

interface OpenCall {
  readonly timer: CallTimer;
  readonly onElicitation: AnswerElicitation | undefined;
  readonly onProgress: (progress: McpProgress) => void;
  readonly signal: AbortSignal;
}

/** The SDK's own clock is not used: it knows no pause, and cannot be held by a test. */
const NO_TIMEOUT = 2 ** 31 - 1;
const MAX_ROUNDS = 20;

export function createRequests(parts: RequestParts): Pick<
  ConnectedServer,
  "listToolsPage" | "callTool"
> & {
  /** A question that came by itself, as in the older era: it does not say which call it belongs to. */
  answerQuestion(params: unknown, signal: AbortSignal): ReturnType<typeof answerElicitation>;
} {
  const { client, clock } = parts;
  const open = new Set<OpenCall>();

  return {
    async listToolsPage(cursor, signal) {
      const options = { signal: signal ?? new AbortController().signal };
      const page = await timed({ ...options, timeoutMs: parts.listTimeoutMs }, (sending) =>
        client.request(
          { method: "tools/list", params: cursor === undefined ? {} : { cursor } },
          rawResult,
          sending,
        ),
      );
      return readPage(page);
    },
    callTool: (request, options) =>
      timed(options, (sending, call) => callInRounds(request, sending, call)),
    async answerQuestion(params, signal) {
      // The call begun last is the likeliest to ask; the time of the others stands still as well.
      const call = [...open].at(-1);
      const releases = [...open].map(({ timer }) => timer.hold());
      try {
        return await answerElicitation(params, call?.onElicitation, signal);
      } finally {
        for (const release of releases) release();
      }
    },
  };

  async function callInRounds(
    { name, arguments: input, _meta }: ToolCallRequest,
    sending: RequestOptions,
    call: OpenCall,
  ): Promise<JsonObject> {
    const params = { name, arguments: input, ...(_meta === undefined ? {} : { _meta }) };
    let reply: { inputResponses?: JsonObject; requestState?: string } = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await client.request(
        { method: "tools/call", params: { ...params, ...reply } },
        rawResult,
        { ...sending, onprogress: call.onProgress, allowInputRequired: true },
      );
      if (answer["resultType"] !== "input_required") return answer;
      reply = await replyTo(answer, call);
      call.timer.restart();
    }
    throw new McpRequestFailure(
      "invalid_answer",
      `the server asked again and again: ${MAX_ROUNDS} rounds without a result`,
    );
  }

  async function replyTo(answer: JsonObject, call: OpenCall) {
    const { inputRequests, requestState } = answer;
    const responses: JsonObject = {};
    const release = call.timer.hold();
    try {
      for (const [key, question] of Object.entries((inputRequests ?? {}) as JsonObject)) {
        const { method, params } = question as { method?: JsonValue; params?: JsonValue };
        if (method !== "elicitation/create") {
          throw new McpRequestFailure(
            "invalid_answer",
            "the server asked for something it was never offered",
          );
        }
        const reply = await answerElicitation(params, call.onElicitation, call.signal);
        responses[key] = { ...reply };
      }
    } finally {
      release();
    }
    return {
      ...(Object.keys(responses).length === 0 ? {} : { inputResponses: responses }),
      ...(typeof requestState === "string" ? { requestState } : {}),
    };
  }

  /** Sends by `work`, with one clock and one abort for all of it, and tells the two apart at its end. */
  async function timed<T>(
    options: Pick<ToolCallOptions, "signal" | "timeoutMs" | "onProgress" | "onElicitation">,
    work: (sending: RequestOptions, call: OpenCall) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs, onProgress, onElicitation } = options;
    if (signal.aborted) throw aborted();
    const stop = new AbortController();
    let isTimedOut = false;
    const timer = startCallTimer(clock, timeoutMs, () => {
      isTimedOut = true;
      stop.abort(`no answer within ${timeoutMs} ms`);
    });
    const onAbort = () => stop.abort("the call was aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    const call: OpenCall = {
      timer,
      onElicitation,
      signal: stop.signal,
      onProgress(progress) {
        timer.restart();
        onProgress?.(progress);
      },
    };
    open.add(call);
    try {
      const result = await work({ signal: stop.signal, timeout: NO_TIMEOUT }, call);
      parts.onAnswered();
      return result;
    } catch (error) {
      if (isTimedOut) {
        const message = `the server did not answer within ${timeoutMs} ms`;
        throw new McpRequestFailure("timeout", message);
      }
      if (signal.aborted) throw aborted();
      if (error instanceof McpRequestFailure) throw error;
      const failure = requestFailure(error, { secrets: parts.secrets, end: parts.end() });
      if (failure.reason === "lost") parts.onLost(failure);
      else parts.onAnswered();
      throw failure;
    } finally {
      timer.stop();
      open.delete(call);
      signal.removeEventListener("abort", onAbort);
    }
  }
}

function aborted(): McpRequestFailure {
  return new McpRequestFailure("aborted", "the call was aborted");
}

function readPage(page: JsonObject): ToolsPage {
  const { tools, nextCursor } = page;
  if (!Array.isArray(tools)) {
    throw new McpRequestFailure("invalid_answer", "the server's list of tools is not a list");
  }
  // Null and "" are what servers send that mean "no more".
  const isCursor = typeof nextCursor === "string" && nextCursor !== "";
  return { tools, next_cursor: isCursor ? nextCursor : undefined };
}
