// What is under way in the piece of a run that is replayed: its calls and turns, as the kernel has them now.

import type { Turn } from "@soong/core";
import type { LiveCall } from "./live-call.ts";

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
