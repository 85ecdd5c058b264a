// One client of the gateway: a run of its own, begun with its first request, and its calls through the one
// pipeline. Each call gets exactly one end; when the client goes, all of them do.

import { createHash } from "node:crypto";
import { ProtocolError, ProtocolErrorCode, type Tool } from "@modelcontextprotocol/server";
import {
  isTerminalFact,
  SEARCH_TOOLS,
  type ElicitationAnswer,
  type Fact,
  type ModelTools,
  type Run,
  type RunOptions,
  type Session,
  type ToolResult,
} from "@soong/core";
import { isJsonObject } from "../catalog/index.ts";
import type { GatewayDesk } from "./desk.ts";
import { withFoundTools } from "./found-tools.ts";
import { createLane } from "./lane.ts";
import { CALL_TOOL, listTools } from "./list-tools.ts";
import { createOpenCall, type OpenCall, type Step, type Waiter } from "./open-call.ts";
import { GATEWAY_PROFILE, INLINE_LIMIT_BYTES } from "./surface-profile.ts";

export interface ClientOptions {
  readonly session: Session;
  readonly desk: GatewayDesk;
  /** Of every run that is started for a client. */
  readonly run?: Pick<RunOptions, "allowedTools" | "taskDenied" | "mode" | "policy" | "connecting">;
  /** How long a call stays open for a client that was asked and has to come back with the answer. */
  readonly returnWithinMs?: number;
}

export interface CallRequest {
  readonly name: string;
  readonly arguments: unknown;
}

export interface GatewayClient {
  tools(): Promise<Tool[]>;
  call(request: CallRequest, waiter: Waiter): Promise<ClientStep>;
  /** The same request again, with answers to what the first one ended with. */
  resume(
    state: string,
    request: CallRequest,
    answers: Answers,
    waiter: Waiter,
  ): Promise<ClientStep>;
  /** What happened in the session. */
  learn(fact: Fact): void;
  /** Nothing more can be learned of the session. */
  learnedAll(): void;
  /** Calls that have not ended. */
  readonly openCalls: number;
  /** Whether a call came with this id of the client's and is being answered. */
  isServing(request_id: string | number): boolean;
  close(reason: string): Promise<void>;
}

export type Answers = ReadonlyMap<string, ElicitationAnswer>;

export type ClientStep =
  | { readonly kind: "ended"; readonly result: ToolResult; readonly reader: string | undefined }
  | (Extract<Step, { kind: "asks" }> & { readonly state: string });

const READ_ARTIFACT = "internal.read_artifact";
const MAX_RUNNING = 32;
const MAX_OPEN = 2_048;
const RETURN_WITHIN_MS = 600_000;

export function createClient(
  { session, desk, run: runOptions = {}, returnWithinMs = RETURN_WITHIN_MS }: ClientOptions,
  listChanged: () => void,
): GatewayClient {
  const calls = new Map<string, OpenCall>();
  const working = new Set<Promise<unknown>>();
  /** Calls whose client was asked and has not come back. */
  const left = new Map<string, NodeJS.Timeout>();
  /** Calls whose terminal fact has not come by yet, with what waits for it. */
  const unlearned = new Map<string, () => void>();
  const lane = createLane(MAX_RUNNING);
  let running: Promise<Run> | undefined;
  let listed: ModelTools | undefined;
  let leaveDesk: (() => void) | undefined;
  let closed = false;
  let learns = true;

  return {
    async tools() {
      const run = await begun();
      listed = await run.tools();
      return listTools(run, listed);
    },

    async call(request, waiter) {
      const asked = request.name === CALL_TOOL ? insideOf(request.arguments) : request;
      const run = await begun();
      if (calls.size >= MAX_OPEN) {
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          `${MAX_OPEN} calls of this client have not ended; wait for some of them, then call again`,
        );
      }
      const call = createOpenCall(fingerprintOf(request));
      calls.set(call.id, call);
      void atWork(conduct(run, call, asked));
      return atWork(follow(run, call, waiter));
    },

    async resume(state, request, answers, waiter) {
      const run = await begun();
      const call = calls.get(state);
      if (call === undefined || call.isAttached) {
        throw invalid(
          "the call this request goes on with has ended, or is being answered already; call again without requestState",
        );
      }
      if (call.fingerprint !== fingerprintOf(request)) {
        throw invalid("name and arguments are not those of the call this request goes on with");
      }
      clearTimeout(left.get(call.id));
      call.answer(answers);
      return atWork(follow(run, call, waiter));
    },

    learn(fact) {
      const { type, tool_call_id: id } = fact;
      if (type.startsWith("mcp.server.")) void notice();
      if (id === undefined) return;
      if (type === "tool.progress") calls.get(id)?.reached(fact.data);
      else if (isTerminalFact(type)) unlearned.get(id)?.();
    },

    learnedAll() {
      learns = false;
      for (const learned of unlearned.values()) learned();
    },

    isServing: (request_id) => [...calls.values()].some((call) => call.isFor(request_id)),

    get openCalls() {
      return calls.size;
    },

    async close(reason) {
      if (closed) return;
      closed = true;
      for (const call of calls.values()) call.giveUp(reason);
      await Promise.allSettled(working);
      // What they ended in is on its way to the client.
      await new Promise(setImmediate);
      leaveDesk?.();
      const run = await running?.catch(() => undefined);
      run?.end("completed");
    },
  };

  function begun(): Promise<Run> {
    if (closed) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, "the gateway is closing");
    }
    running ??= begin().catch((error: unknown) => {
      running = undefined;
      throw error;
    });
    return running;
  }

  async function begin(): Promise<Run> {
    const run = await session.startRun({
      ...runOptions,
      role: "main",
      profile: GATEWAY_PROFILE,
      inlineLimitBytes: INLINE_LIMIT_BYTES,
    });
    leaveDesk = desk.seat(run.identity.run_id, {
      find: (id) => calls.get(id),
      only: () => (calls.size === 1 ? [...calls.values()][0] : undefined),
    });
    return run;
  }

  function atWork<T>(work: Promise<T>): Promise<T> {
    working.add(work);
    const forget = (): boolean => working.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Never rejects: what goes wrong in a call is its result. */
  async function conduct(run: Run, call: OpenCall, request: CallRequest): Promise<void> {
    const place = await lane.enter(call.unwanted);
    call.enters(place);
    const turn = run.openTurn();
    const stop = (): void => void turn.abort(String(call.unwanted.reason));
    const learned = new Promise<void>((resolve) => {
      unlearned.set(call.id, resolve);
    });
    // One that nobody waits for any more is on record all the same, and does nothing.
    if (call.unwanted.aborted) stop();
    else call.unwanted.addEventListener("abort", stop);
    turn.push({ id: call.id, name: request.name, arguments: request.arguments });
    turn.end();
    const [result] = (await turn.settled()) as [ToolResult];
    // Progress goes out before the result; without a journal there is nothing to wait for.
    if (learns && result.error?.code !== "journal_unavailable") await learned;
    unlearned.delete(call.id);
    clearTimeout(left.get(call.id));
    left.delete(call.id);
    calls.delete(call.id);
    call.ends(result);
  }

  async function follow(run: Run, call: OpenCall, waiter: Waiter): Promise<ClientStep> {
    const step = await call.follow(waiter);
    if (step.kind === "asks") {
      awaitReturn(call);
      return { ...step, state: call.id };
    }
    // What a search has loaded can be called from here on, whether or not the client lists again.
    const shown = await run.tools();
    void notice();
    const found = step.result.tool_name === SEARCH_TOOLS && !step.result.is_error;
    return {
      kind: "ended",
      result: found ? withFoundTools(step.result, shown) : step.result,
      reader:
        run.surface.standing.get(READ_ARTIFACT)?.state === "loaded"
          ? shown.names.toWire(READ_ARTIFACT)
          : undefined,
    };
  }

  /** A client that never comes back with an answer does not keep its call open for ever. */
  function awaitReturn(call: OpenCall): void {
    const timer = setTimeout(
      () => call.giveUp("the client did not come back with an answer"),
      returnWithinMs,
    );
    timer.unref();
    left.set(call.id, timer);
  }

  /** Told once for every change after the client has listed. */
  async function notice(): Promise<void> {
    if (listed === undefined || running === undefined || closed) return;
    const now = await running.then((run) => run.tools()).catch(() => listed);
    if (now === listed || closed) return;
    listed = now;
    listChanged();
  }
}

/** A call_tool call is the call it names; what it names wrongly the pipeline says, and records. */
function insideOf(given: unknown): CallRequest {
  const inside = isJsonObject(given) ? given : {};
  const { name } = inside;
  return { name: typeof name === "string" ? name : "", arguments: inside["arguments"] ?? {} };
}

function fingerprintOf({ name, arguments: given }: CallRequest): string {
  return createHash("sha256")
    .update(JSON.stringify([name, given]))
    .digest("hex");
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
