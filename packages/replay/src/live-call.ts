// One call of the replay: what the kernel has decided about it so far, and the gates at which its tool, its guards and the user
// wait until the record says that they answered.

import {
  isTerminalFact,
  type ChainEntry,
  type Fact,
  type HandlerResult,
  type Journal,
  type Plan,
  type ToolContext,
  type ToolResult,
  type Turn,
} from "@soong/core";
import { readCallClass } from "@soong/core/internal";
import type { RecordedCall } from "./recorded-call.ts";

export class LiveCall {
  readonly recorded: RecordedCall;
  readonly turn: number;
  /** Its arguments are on record, where they are kept apart. */
  readonly kept = new Gate<void>();
  readonly admitted = new Gate<void>();
  readonly targeted = new Gate<Plan>();
  readonly planned = new Gate<Plan>();
  readonly answered = new Gate<void>();
  /** Its start is on disk, where it was ended before that. */
  readonly durable = new Gate<void>();
  readonly returned = new Gate<HandlerResult>();
  /** The hooks after it have ended, or its clean-up. */
  readonly observed = new Gate<void>();
  /** Its outcome is there, and its end is not on record yet. */
  isEnding: boolean;
  /** Of its handler, once that was called. */
  context?: Pick<ToolContext, "waitForUser">;
  /** The approval its handler waits for. */
  person?: Gate<void>;
  /** The scheduler has let it begin. */
  begun = false;
  /** It was given what it ended with, before its end is on record. */
  letGo = false;
  admissions = 0;
  targets = 0;
  guarded = 0;
  tool_name?: string;
  validated?: Fact<"tool.validated">;
  class?: ReturnType<typeof readCallClass>;
  /** Its judgements so far, and how many of those on record were compared with them. */
  readonly judgements: Fact<"permission.evaluated">[] = [];
  compared = 0;
  asked = false;
  started = false;
  result?: ToolResult;

  constructor(recorded: RecordedCall, turn: number) {
    this.recorded = recorded;
    this.turn = turn;
    this.isEnding = recorded.observed === true;
  }

  /** What the kernel has recorded of it now. */
  note(fact: Fact): void {
    if (fact.type === "tool.requested") this.tool_name = fact.tool_name ?? "";
    else if (fact.type === "tool.validated") this.validated = fact;
    else if (fact.type === "tool.queued") this.class = readCallClass(fact.data.class);
    else if (fact.type === "permission.evaluated") this.judgements.push(fact);
    else if (fact.type === "permission.requested") this.asked = true;
    else if (fact.type === "permission.failed") this.asked = true;
    else if (fact.type === "tool.started") this.started = true;
    else if (isTerminalFact(fact)) this.result = fact.data.result;
  }
}

/** The first of `open` and `fail` counts. */
export class Gate<T> {
  readonly promise: Promise<T>;
  isOpen = false;
  #resolve: (value: T) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // It may be that nothing waits there.
    this.promise.catch(() => {});
  }

  open(value: T): void {
    this.isOpen = true;
    this.#resolve(value);
  }

  fail(error: Error): void {
    this.isOpen = true;
    this.#reject(error);
  }
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

/** How far the record has got. Stand-ins wait here for the fact by which they had answered. */
export class RecordPlace {
  /** The seq of the fact that is looked at. */
  reached = 0;
  #waiting: { readonly seq: number; readonly go: () => void }[] = [];

  until(seq: number): Promise<void> {
    return new Promise((go) => {
      if (seq <= this.reached) go();
      else this.#waiting.push({ seq, go });
    });
  }

  /** Lets go who waits for a fact up to this one. */
  release(seq: number): void {
    const ready = this.#waiting.filter((one) => one.seq <= seq);
    this.#waiting = this.#waiting.filter((one) => one.seq > seq);
    for (const { go } of ready) go();
  }
}

/**
 * The journal of a replay keeps nothing: it collects what the kernel decides now, call by call, and in `catalogs` surface by
 * surface.
 */
export function createWatchingJournal(
  calls: ReadonlyMap<string, LiveCall>,
  catalogs: Fact<"tool.catalog.resolved">[],
): Journal {
  /** The call whose start was appended last. */
  let starting: LiveCall | undefined;
  return {
    append({ facts }) {
      starting = undefined;
      for (const fact of facts) {
        if (fact.type === "tool.catalog.resolved") catalogs.push(fact);
        const call = calls.get(fact.tool_call_id ?? "");
        call?.note(fact);
        if (fact.type === "tool.started") starting = call;
      }
    },
    async flush() {
      if (starting !== undefined && starting.recorded.neverCalled) await starting.durable.promise;
    },
    read: async () => [],
  };
}
