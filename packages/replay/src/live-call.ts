// One call of the replay: what the kernel has decided about it so far, and the places where its tool, its guards and the
// person wait until the record says that they answered.

import type {
  ChainEntry,
  Fact,
  HandlerResult,
  Plan,
  ToolContext,
  ToolResult,
  Turn,
} from "@soong/core";
import type { readCallClass } from "@soong/core/internal";
import type { RecordedCall } from "./recorded-call.ts";

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

export interface Gate<T> {
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
