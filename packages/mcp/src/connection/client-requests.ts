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
import { rawResult } from "./raw-results.ts";
import type {
  ConnectedServer,
  ConnectionOptions,
  McpProgress,
  ToolCallOptions,
  ToolsPage,
} from "./connected-server.ts";
import { McpRequestFailure } from "./failure.ts";
import {
  answerQuestion,
  answerQuestions,
  listCapabilities,
  refusalFor,
  type AskedCall,
} from "./server-questions.ts";

export interface RequestParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly offer: Pick<ConnectionOptions, "canElicit" | "canSample" | "canListRoots">;
  readonly listTimeoutMs: number;
  /** What comes with an answer comes on a stream of that one request, as over HTTP. */
  readonly hasOwnStreams: boolean;
  readonly onAnswered: () => void;
  /** What the SDK threw. */
  readonly readFailure: (error: unknown) => McpRequestFailure;
}

interface OpenCall extends AskedCall, Pick<ToolCallOptions, "asker" | "onLog"> {
  readonly timer: CallTimer;
  readonly onProgress: (progress: McpProgress) => void;
}

/** The SDK's own clock is not used: it knows no pause, and cannot be held by a test. */
export const NO_TIMEOUT = 2 ** 31 - 1;
const MAX_ROUNDS = 20;
/** Of a request's `_meta`. The protocol keeps logging for at least another year. */
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

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
  takeRequests();

  return {
    async listToolsPage(cursor, signal = new AbortController().signal) {
      const options = { signal, timeoutMs: parts.listTimeoutMs };
      const page = await request("tools/list", omitUndefined({ cursor }), options);
      return readPage(page, "tools", "the server's list of tools is not a list");
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
    return timed(options, (sending, call) => sendInRounds(method, asked, sending, call));
  }

  /** A server of the newer era gets with every request what may be asked of its caller. */
  function metaFor(given: unknown, { host, logLevel }: ToolCallOptions): { _meta?: JsonObject } {
    if (client.getProtocolEra() !== "modern") return {};
    const _meta: JsonObject = {
      ...(given as JsonObject | undefined),
      [CLIENT_CAPABILITIES_META_KEY]: listCapabilities(offer, host) as JsonObject,
      ...omitUndefined({ [LOG_LEVEL_KEY]: logLevel }),
    };
    return { _meta };
  }

  async function sendInRounds(
    method: string,
    params: JsonObject,
    sending: RequestOptions,
    call: OpenCall,
  ): Promise<JsonObject> {
    let reply: JsonObject = {};
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
        ...(Object.keys(inputResponses).length > 0 && { inputResponses }),
        ...(typeof requestState === "string" && { requestState }),
      };
    } finally {
      release();
    }
  }

  /** Requests and notifications from the server, as in the older era. */
  function takeRequests(): void {
    if (offer.canElicit === true) {
      client.setRequestHandler("elicitation/create", ({ method, params }, { mcpReq }) =>
        answerRequest(method, params, mcpReq.signal),
      );
    }
    if (offer.canSample === true) {
      client.setRequestHandler("sampling/createMessage", ({ method, params }, { mcpReq }) =>
        answerRequest(method, params, mcpReq.signal),
      );
    }
    if (offer.canListRoots === true) {
      client.setRequestHandler("roots/list", ({ method }, { mcpReq }) =>
        answerRequest(method, undefined, mcpReq.signal),
      );
    }
    client.setNotificationHandler("notifications/message", ({ params }) => {
      const listener = carriedCall() ?? lastOfOne(({ onLog }) => onLog !== undefined);
      listener?.onLog?.(params as JsonObject);
    });
  }

  /** While one is asked the time of every call is paused: it may belong to any of them. */
  async function answerRequest<T>(
    method: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<T> {
    const call =
      carriedCall() ??
      lastOfOne(({ onElicitation, host }) => (onElicitation ?? host) !== undefined);
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

  function carriedCall(): OpenCall | undefined {
    const call = carrier?.getStore();
    return call !== undefined && open.has(call) ? call : undefined;
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
    const { signal, timeoutMs } = options;
    const aborted = () => new McpRequestFailure("aborted", "the call was aborted");
    if (signal.aborted) throw aborted();
    const stop = new AbortController();
    /** Only for a call that is asked something: one costs as much as a request. */
    let ended: AbortController | undefined;
    let isTimedOut = false;
    const timer = startCallTimer(clock, timeoutMs, () => {
      isTimedOut = true;
      stop.abort(`no answer within ${timeoutMs} ms`);
    });
    const onAbort = () => stop.abort("the call was aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    const call: OpenCall = {
      ...options,
      timer,
      untilEnd() {
        ended ??= new AbortController();
        return AbortSignal.any([stop.signal, ended.signal]);
      },
      asked: { all: 0, open: 0 },
      onProgress(progress) {
        timer.restart();
        options.onProgress?.(progress);
      },
    };
    open.add(call);
    try {
      const send = () => work({ signal: stop.signal, timeout: NO_TIMEOUT }, call);
      const result = await (carrier === undefined ? send() : carrier.run(call, send));
      parts.onAnswered();
      return result;
    } catch (error) {
      if (isTimedOut) {
        const message = `the server did not answer within ${timeoutMs} ms`;
        throw new McpRequestFailure("timeout", message);
      }
      if (signal.aborted) throw aborted();
      throw error instanceof McpRequestFailure ? error : parts.readFailure(error);
    } finally {
      timer.stop();
      open.delete(call);
      ended?.abort("the call has ended");
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** One page of a list, under `key`. */
export function readPage(answer: JsonObject, key: string, problem: string): ToolsPage {
  const { [key]: tools, nextCursor } = answer;
  if (!Array.isArray(tools)) throw new McpRequestFailure("invalid_answer", problem);
  // Null and "" are what servers send that mean "no more".
  const isCursor = typeof nextCursor === "string" && nextCursor !== "";
  return { tools, next_cursor: isCursor ? nextCursor : undefined };
}

type CallTimer = ReturnType<typeof startCallTimer>;

/** The time one request may take: starts again when the server shows progress, and is paused while a user is asked. */
export function startCallTimer(clock: Clock, ms: number, onOver: () => void) {
  let left = ms;
  let startedAt = clock.monotonic();
  let holds = 0;
  let isStopped = false;
  let cancel: (() => void) | undefined = clock.after(left, over);

  function over(): void {
    isStopped = true;
    cancel = undefined;
    onOver();
  }

  function pause(): void {
    cancel?.();
    cancel = undefined;
  }

  function run(): void {
    if (isStopped || holds > 0) return;
    startedAt = clock.monotonic();
    cancel = clock.after(left, over);
  }

  return {
    restart(): void {
      pause();
      left = ms;
      run();
    },
    /** Until the returned function is called. Holds may overlap. */
    hold(): () => void {
      if (holds === 0 && cancel !== undefined) {
        pause();
        left = Math.max(0, left - (clock.monotonic() - startedAt));
      }
      holds += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds -= 1;
        run();
      };
    },
    stop(): void {
      isStopped = true;
      pause();
    },
  };
}
