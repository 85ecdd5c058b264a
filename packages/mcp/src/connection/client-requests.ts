// The requests to a connected server, and the questions it has during one. A request is sent once; in the
// newer era its answer may be a question, and the request continues with the reply.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type RequestOptions,
} from "@modelcontextprotocol/client";
import type { Clock, JsonObject } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { startCallTimer, type CallTimer } from "./call-timer.ts";
import type {
  ConnectedServer,
  McpProgress,
  ToolCallOptions,
  ToolsPage,
} from "./connected-server.ts";
import type { ConnectionOptions } from "./connection-types.ts";
import { McpRequestFailure } from "./failure.ts";
import { rawResult } from "./raw-results.ts";
import { requestFailure } from "./request-failure.ts";
import {
  answerQuestion,
  answerQuestions,
  capabilitiesOf,
  refusalFor,
  type AskedCall,
} from "./server-questions.ts";

export interface RequestParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly offer: Pick<ConnectionOptions, "canElicit" | "canSample" | "canListRoots">;
  readonly listTimeoutMs: number;
  readonly secrets: readonly string[];
  /** What comes with an answer comes on a stream of that one request, as over HTTP. */
  readonly hasOwnStreams: boolean;
  /** Why the server is gone, once it is. */
  readonly end: () => string | undefined;
  readonly onAnswered: () => void;
  readonly onLost: (failure: McpRequestFailure) => void;
}

interface OpenCall extends AskedCall, Pick<ToolCallOptions, "asker" | "onLog"> {
  readonly timer: CallTimer;
  readonly onProgress: (progress: McpProgress) => void;
}

/** The SDK's own clock is not used: it knows no pause, and cannot be held by a test. */
export const NO_TIMEOUT = 2 ** 31 - 1;
const MAX_ROUNDS = 20;
/** The protocol keeps logging for at least another year. */
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

export function createRequests(
  parts: RequestParts,
): Pick<ConnectedServer, "listToolsPage" | "callTool" | "request"> {
  const { client, clock, offer } = parts;
  const open = new Set<OpenCall>();
  /**
   * The call on whose stream a message came: over HTTP a server's question says so by nothing else, and the
   * SDK reads that stream inside the request that opened it. A pipe is one stream for all, and to follow
   * calls there would tell nothing and slow down every promise of the process.
   */
  const carrier = parts.hasOwnStreams ? new AsyncLocalStorage<OpenCall>() : undefined;
  answerByItself();

  return {
    async listToolsPage(cursor, signal) {
      const options = { signal: signal ?? new AbortController().signal };
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const listing = { ...options, timeoutMs: parts.listTimeoutMs };
      return readPage(await request("tools/list", params, listing));
    },
    callTool: ({ name, arguments: input, _meta }, options) =>
      request("tools/call", { name, arguments: input, ...omitUndefined({ _meta }) }, options),
    request,
  };

  function request(
    method: string,
    params: JsonObject,
    options: ToolCallOptions,
  ): Promise<JsonObject> {
    const asked = { ...params, ...metaFor(params["_meta"], options) };
    return timed(options, (sending, call) => inRounds(method, asked, sending, call));
  }

  /** A server of the newer era gets with every request what may be asked of its caller. */
  function metaFor(given: unknown, { host, logLevel }: ToolCallOptions): { _meta?: JsonObject } {
    if (client.getProtocolEra() !== "modern") return {};
    const _meta: JsonObject = {
      ...(given as JsonObject | undefined),
      [CLIENT_CAPABILITIES_META_KEY]: capabilitiesOf(offer, host) as JsonObject,
      ...omitUndefined({ [LOG_LEVEL]: logLevel }),
    };
    return { _meta };
  }

  async function inRounds(
    method: string,
    params: JsonObject,
    sending: RequestOptions,
    call: OpenCall,
  ): Promise<JsonObject> {
    let reply: { inputResponses?: JsonObject; requestState?: string } = {};
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await client.request({ method, params: { ...params, ...reply } }, rawResult, {
        ...sending,
        onprogress: call.onProgress,
        allowInputRequired: true,
      });
      if (answer["resultType"] !== "input_required") return answer;
      reply = await replyTo(answer, call);
      call.timer.restart();
    }
    throw new McpRequestFailure(
      "invalid_answer",
      `the server asked again and again: ${MAX_ROUNDS} rounds without a result`,
    );
  }

  async function replyTo({ inputRequests, requestState }: JsonObject, call: OpenCall) {
    const release = call.timer.hold();
    try {
      const inputResponses = await answerQuestions(inputRequests, call);
      return {
        ...(Object.keys(inputResponses).length === 0 ? {} : { inputResponses }),
        ...(typeof requestState === "string" ? { requestState } : {}),
      };
    } finally {
      release();
    }
  }

  /** Requests and notifications from the server, as in the older era. */
  function answerByItself(): void {
    if (offer.canElicit === true) {
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
        answered("elicitation/create", params, mcpReq.signal),
      );
    }
    if (offer.canSample === true) {
      client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq }) =>
        answered("sampling/createMessage", params, mcpReq.signal),
      );
    }
    if (offer.canListRoots === true) {
      client.setRequestHandler("roots/list", (_request, { mcpReq }) =>
        answered("roots/list", undefined, mcpReq.signal),
      );
    }
    client.setNotificationHandler("notifications/message", ({ params }) => {
      const listener = carried() ?? lastOfOne(({ onLog }) => onLog !== undefined);
      listener?.onLog?.(params as JsonObject);
    });
  }

  /** While one is asked the time of every call is paused: it may belong to any of them. */
  async function answered<T>(method: string, params: unknown, signal: AbortSignal): Promise<T> {
    const call = callAsking();
    const releases = [...open].map(({ timer }) => timer.hold());
    const until = call === undefined ? signal : AbortSignal.any([signal, call.untilEnd()]);
    try {
      // What it is the SDK checks before it sends it.
      return (await answerQuestion({ method, params }, call, { signal: until })) as T;
    } catch (error) {
      throw refusalFor(error);
    } finally {
      for (const release of releases) release();
    }
  }

  function carried(): OpenCall | undefined {
    const call = carrier?.getStore();
    return call !== undefined && open.has(call) ? call : undefined;
  }

  function callAsking(): OpenCall | undefined {
    return (
      carried() ?? lastOfOne(({ onElicitation, host }) => (onElicitation ?? host) !== undefined)
    );
  }

  /**
   * Of the calls that are able, the one begun last, if its caller made all that are open: what one client's
   * call asks or says is not for another client to read.
   */
  function lastOfOne(isAble: (call: OpenCall) => boolean): OpenCall | undefined {
    const theirs = [...open].filter((call) => call.asker !== undefined || isAble(call));
    const last = theirs.findLast(isAble);
    return theirs.every(({ asker }) => asker === last?.asker) ? last : undefined;
  }

  /** Sends by `work`, with one clock and one abort for all of it, and tells the two apart at its end. */
  async function timed<T>(
    options: ToolCallOptions,
    work: (sending: RequestOptions, call: OpenCall) => Promise<T>,
  ): Promise<T> {
    const { signal, timeoutMs, onProgress, ...asking } = options;
    if (signal.aborted) throw aborted();
    const stop = new AbortController();
    const ended = createEnd();
    let isTimedOut = false;
    const timer = startCallTimer(clock, timeoutMs, () => {
      isTimedOut = true;
      stop.abort(`no answer within ${timeoutMs} ms`);
    });
    const onAbort = () => stop.abort("the call was aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    const call: OpenCall = {
      ...asking,
      timer,
      untilEnd: () => AbortSignal.any([stop.signal, ended.signal()]),
      asked: { all: 0, open: 0 },
      onProgress(progress) {
        timer.restart();
        onProgress?.(progress);
      },
    };
    open.add(call);
    try {
      const sending = { signal: stop.signal, timeout: NO_TIMEOUT };
      const result = await (carrier === undefined
        ? work(sending, call)
        : carrier.run(call, () => work(sending, call)));
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
      ended.now();
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** The end of a call as a signal, for the few calls that are asked something: one costs as much as a request. */
function createEnd(): { readonly signal: () => AbortSignal; readonly now: () => void } {
  let controller: AbortController | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    controller?.abort("the call has ended");
  };
  return {
    signal() {
      controller ??= new AbortController();
      if (isOver) end();
      return controller.signal;
    },
    now: end,
  };
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
