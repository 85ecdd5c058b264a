// One client of the gateway: a run of its own, begun with its first request, and its calls through the one
// pipeline. Each call gets exactly one end; when the client goes, all of them do.

import { createHash, randomUUID } from "node:crypto";
import { ProtocolError, ProtocolErrorCode, type Tool } from "@modelcontextprotocol/server";
import {
  RunRefused,
  SEARCH_TOOLS,
  type Fact,
  type ModelTools,
  type Run,
  type ToolResult,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import type { Relay, RelayChange } from "../relay/relay.ts";
import { createClientRelay } from "./client-relay.ts";
import {
  createClientRuns,
  READ_ARTIFACT,
  type GatewayOptions,
  type Through,
} from "./client-runs.ts";
import { createLane } from "./lane.ts";
import { CALL_TOOL, listTools, withFoundTools } from "./list-tools.ts";
import {
  createOpenCall,
  type Answers,
  type OpenCall,
  type Step,
  type Waiter,
} from "./open-call.ts";

export interface CallRequest {
  readonly name: string;
  readonly arguments: unknown;
  /** By its canonical name: a prompt or a resource. Default: a tool, under the name it was listed by. */
  readonly through?: Extract<Through, "relay">;
}

/** What a client is notified of. */
export type ClientNews = { readonly kind: "tools" } | RelayChange;

export type GatewayClient = ReturnType<typeof createClient>;

export type ClientStep =
  | { readonly kind: "ended"; readonly result: ToolResult; readonly reader: string | undefined }
  | (Extract<Step, { kind: "asks" }> & { readonly state: string });

const MAX_RUNNING = 32;
const MAX_OPEN = 2_048;
const RETURN_WITHIN_MS = 600_000;

export function createClient(
  options: GatewayOptions,
  relay: Relay | undefined,
  tell: (news: ClientNews) => void,
) {
  const { returnWithinMs = RETURN_WITHIN_MS } = options;
  const calls = new Map<string, OpenCall>();
  const working = new Set<Promise<unknown>>();
  /** Calls whose client was asked and has not come back, by what it has to come back with; ended ones too. */
  const left = new Map<string, { readonly call: OpenCall; readonly timer: NodeJS.Timeout }>();
  const lane = createLane(MAX_RUNNING);
  const runs = createClientRuns(options, {
    find: (id) => calls.get(id),
    only: () => (calls.size === 1 ? [...calls.values()][0] : undefined),
  });
  const ownRelay = relay === undefined ? undefined : createClientRelay(relay, () => runs.mayCall());
  const stopHearing = relay?.onChange((change) => {
    if (ownRelay?.concerns(change) === true) tell(change);
  });
  let listed: ModelTools | undefined;
  let closed = false;

  return {
    /** Waits for the servers behind, within bounds: what they can do is announced only once. */
    ready: () => runs.ready(),
    /** Prompts and resources of the servers behind, where there are any. */
    relay: ownRelay,

    async tools(): Promise<Tool[]> {
      await runs.ready();
      const run = await runs.begin("tools").catch((error: unknown) => {
        if (error instanceof RunRefused && runs.hasNoTools()) return undefined;
        throw error;
      });
      if (run === undefined) return [];
      listed = await run.tools();
      return listTools(run, await runs.shown(run));
    },

    /** `answers`: to questions the client expects to be asked. */
    async call(request: CallRequest, waiter: Waiter, answers?: Answers): Promise<ClientStep> {
      const run = await runs.begin(request.through ?? "tools");
      const asked = await findTarget(run, request);
      if (Math.max(calls.size, left.size) >= MAX_OPEN) {
        const message = `${MAX_OPEN} calls of this client have not ended; wait for some of them, then call again`;
        throw new ProtocolError(ProtocolErrorCode.InternalError, message);
      }
      const call = createOpenCall(() => createFingerprint(request), answers);
      calls.set(call.id, call);
      void atWork(conduct(run, call, asked));
      return atWork(follow(run, call, waiter));
    },

    /** The same request again, with answers to what the first one ended with. */
    async resume(
      state: string,
      request: CallRequest,
      answers: Answers,
      waiter: Waiter,
    ): Promise<ClientStep> {
      const run = await runs.begin(request.through ?? "tools");
      const returned = left.get(state);
      if (returned === undefined) {
        throw invalid(
          "the call this request continues with has ended, or is being answered already, or was never begun; call again without requestState",
        );
      }
      const { call, timer } = returned;
      if (call.fingerprint() !== createFingerprint(request)) {
        throw invalid("name and arguments are not those of the call this request continues with");
      }
      clearTimeout(timer);
      left.delete(state);
      call.answer(answers);
      return atWork(follow(run, call, waiter));
    },

    /** A call of the session reported progress; its result comes after it. */
    progressed({ tool_call_id: id = "", data }: Fact<"tool.progress">): void {
      const said = isJsonObject(data.data) ? data.data["log"] : undefined;
      if (isJsonObject(said)) calls.get(id)?.logged(said);
      else calls.get(id)?.reached(data);
    },

    /** The servers behind have changed. */
    notice: () => void notice(),

    /** Whether a call came with this id of the client's and is being answered. */
    isServing: (request_id: string | number) =>
      [...calls.values()].some((call) => call.isFor(request_id)),

    /** Calls that have not ended. */
    get openCalls(): number {
      return calls.size;
    },

    async close(reason: string): Promise<void> {
      if (closed) return;
      closed = true;
      runs.stop();
      for (const call of calls.values()) call.giveUp(reason);
      for (const { timer } of left.values()) clearTimeout(timer);
      left.clear();
      await Promise.allSettled(working);
      // What they ended in is on its way to the client.
      await new Promise(setImmediate);
      stopHearing?.();
      ownRelay?.close();
      await runs.end();
    },
  };

  /** By any name: the pipeline reports, and records, what is called wrongly. */
  async function findTarget(run: Run, request: CallRequest): Promise<CallRequest> {
    if (request.through === "relay") return request;
    const asked = request.name === CALL_TOOL ? readInside(request.arguments) : request;
    if (options.only === undefined) return asked;
    const { names } = await runs.shown(run);
    return { ...asked, name: names.toCanonical(asked.name) ?? asked.name };
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
    // One that no one waits for any more is on record all the same, and does nothing.
    if (call.unwanted.aborted) stop();
    else call.unwanted.addEventListener("abort", stop);
    turn.push({ id: call.id, name: request.name, arguments: request.arguments });
    turn.end();
    const [result] = (await turn.settled()) as [ToolResult];
    calls.delete(call.id);
    call.ends(result);
  }

  async function follow(run: Run, call: OpenCall, waiter: Waiter): Promise<ClientStep> {
    const step = await call.follow(waiter);
    if (step.kind === "asks") return { ...step, state: awaitReturn(call) };
    // What a search has loaded can be called from here on, whether or not the client lists again.
    const shown = await runs.shown(run);
    void notice();
    const { result } = step;
    const hasFound = result.tool_name === SEARCH_TOOLS && !result.is_error;
    const isReader = run.surface.standing.get(READ_ARTIFACT)?.state === "loaded";
    return {
      kind: "ended",
      result: hasFound ? withFoundTools(result, shown) : result,
      reader: isReader ? shown.names.toWire(READ_ARTIFACT) : undefined,
    };
  }

  /**
   * Another one each time: what was answered once is not answered again. A call that ends meanwhile keeps its
   * result for the client, because one that called again would do it twice; not for ever.
   */
  function awaitReturn(call: OpenCall): string {
    const state = `state_${randomUUID()}`;
    const timer = setTimeout(() => {
      left.delete(state);
      call.giveUp("the client did not come back with an answer");
    }, returnWithinMs);
    timer.unref();
    left.set(state, { call, timer });
    return state;
  }

  /** Sent once for every change after the client has listed. */
  async function notice(): Promise<void> {
    if (listed === undefined || closed) return;
    const now = await runs
      .begin("tools")
      .then((run) => run.tools())
      .catch(() => listed);
    if (now === listed || closed) return;
    listed = now;
    tell({ kind: "tools" });
  }
}

/** A call_tool call is the call it names; what it names wrongly the pipeline says, and records. */
function readInside(given: unknown): CallRequest {
  const inside = isJsonObject(given) ? given : {};
  const { name } = inside;
  return { name: typeof name === "string" ? name : "", arguments: inside["arguments"] ?? {} };
}

function createFingerprint({ name, arguments: given }: CallRequest): string {
  const text = JSON.stringify([name, given]);
  return createHash("sha256").update(text).digest("hex");
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
