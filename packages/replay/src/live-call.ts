// One call of the replay: what the kernel has decided about it so far, and the places where its tool, its guards and the
// person wait until the record says that they answered.

import {
  type ChainEntry,
  type Fact,
  type HandlerResult,
  type Plan,
  type ToolContext,
  type ToolResult,
  type Turn,
  isTerminalFact,
  type Journal,
} from "@soong/core";
import { readCallClass } from "@soong/core/internal";
import { type RecordedCall, neverCalled } from "./recorded-call.ts";

export interface LiveCall {
  readonly recorded: RecordedCall;
  readonly turn: number;
  /** Its arguments are on record, where they are kept apart. */
  readonly kept: Gate<void>;
  readonly admitted: Gate<void>;
  readonly targeted: Gate<Plan>;
  readonly planned: Gate<Plan>;
  readonly answered: Gate<void>;
  /** Its start is on disk, where it was ended before that. */
  readonly durable: Gate<void>;
  readonly returned: Gate<HandlerResult>;
  /** The hooks after it have ended, or its clean-up. */
  readonly observed: Gate<void>;
  /** Its outcome is there, and its end is not on record yet. */
  isEnding: boolean;
  /** Of its handler, once that was called. */
  context?: Pick<ToolContext, "waitForPerson">;
  /** The approval its handler waits for. */
  person?: Gate<void>;
  /** The scheduler has let it begin. */
  begun: boolean;
  /** It was given what it ended with, before its end is on record. */
  letGo: boolean;
  admissions: number;
  targets: number;
  guarded: number;
  tool_name?: string;
  validated?: Fact<"tool.validated">;
  class?: ReturnType<typeof readCallClass>;
  /** Its judgements so far, and how many of those on record were compared with them. */
  readonly judgements: Fact<"permission.evaluated">[];
  compared: number;
  asked: boolean;
  started: boolean;
  result?: ToolResult;
}

interface Gate<T> {
  readonly promise: Promise<T>;
  readonly isOpen: boolean;
  /** The first of the two counts. */
  open(value: T): void;
  fail(error: Error): void;
}

export function createLiveCall(recorded: RecordedCall, turn: number): LiveCall {
  return {
    recorded,
    turn,
    kept: createGate(),
    admitted: createGate(),
    targeted: createGate(),
    planned: createGate(),
    answered: createGate(),
    durable: createGate(),
    returned: createGate(),
    observed: createGate(),
    isEnding: recorded.observed === true,
    begun: false,
    letGo: false,
    admissions: 0,
    targets: 0,
    guarded: 0,
    judgements: [],
    compared: 0,
    asked: false,
    started: false,
  };
}

export function createGate<T>(): Gate<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  let isOpen = false;
  const promise = new Promise<T>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  // It may be that nothing waits there.
  promise.catch(() => {});
  return {
    promise,
    get isOpen() {
      return isOpen;
    },
    open(value) {
      isOpen = true;
      resolve(value);
    },
    fail(error) {
      isOpen = true;
      reject(error);
    },
  };
}

export function findDecisive(chain: readonly ChainEntry[]): ChainEntry | undefined {
  return chain.find(({ decisive }) => decisive === true);
}

export interface Piece {
  /** When calls ended and were halted is on record. */
  readonly hasOrder: boolean;
  readonly calls: Map<string, LiveCall>;
  readonly turns: Map<number, Turn>;
  /** Answers that still stream, with the seq of the fact that ends them. */
  readonly streaming: Map<number, number>;
}

/** Nothing in a replay waits for time or for the machine: what follows from an event follows at once. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

// How far the record has got. Stand-ins wait here for the fact by which they had answered.

export interface RecordPlace {
  /** The seq of the fact that is looked at. */
  reached: number;
  until(seq: number): Promise<void>;
  /** Lets go who waits for a fact up to this one. */
  release(seq: number): void;
}

export function createRecordPlace(): RecordPlace {
  let waiting: { readonly seq: number; readonly go: () => void }[] = [];
  const place: RecordPlace = {
    reached: 0,
    until: (seq) =>
      new Promise((go) => {
        if (seq <= place.reached) go();
        else waiting.push({ seq, go });
      }),
    release(seq) {
      const ready = waiting.filter((one) => one.seq <= seq);
      waiting = waiting.filter((one) => one.seq > seq);
      for (const { go } of ready) go();
    },
  };
  return place;
}

// The journal of a replay keeps nothing: it collects what the kernel decides now, call by call and surface by surface.

/** `catalogs`: where surfaces go, in the order they came. */
export function createWatchingJournal(
  calls: ReadonlyMap<string, LiveCall>,
  catalogs: Fact<"tool.catalog.resolved">[],
): Journal {
  /** The call whose start was appended last. */
  let starting: LiveCall | undefined;
  return {
    append({ facts }) {
      starting = undefined;
      facts.forEach(watch);
    },
    async flush() {
      if (starting !== undefined && neverCalled(starting.recorded)) await starting.durable.promise;
    },
    read: async () => [],
  };

  function watch(fact: Fact): void {
    if (fact.type === "tool.catalog.resolved") catalogs.push(fact);
    const call = fact.tool_call_id === undefined ? undefined : calls.get(fact.tool_call_id);
    if (call === undefined) return;
    if (fact.type === "tool.requested") call.tool_name = fact.tool_name ?? "";
    else if (fact.type === "tool.validated") call.validated = fact;
    else if (fact.type === "tool.queued") call.class = readCallClass(fact.data.class);
    else if (fact.type === "permission.evaluated") call.judgements.push(fact);
    else if (fact.type === "permission.requested" || fact.type === "permission.failed")
      call.asked = true;
    else if (fact.type === "tool.started") {
      call.started = true;
      starting = call;
    } else if (isTerminalFact(fact)) call.result = fact.data.result;
  }
}
