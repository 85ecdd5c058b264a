// Gives way to everything else in the process while a long synchronous walk goes on, and notices there
// that the call was cancelled.

import { setImmediate } from "node:timers/promises";

export interface Breather {
  /** Cheap; ask for every item. */
  isDue(): boolean;
  /** Throws the reason when the call was cancelled meanwhile. */
  pause(): Promise<void>;
}

export function createBreather(signal: AbortSignal): Breather {
  let asked = 0;
  let since = performance.now();
  return {
    isDue() {
      asked += 1;
      return asked % ITEMS_BETWEEN_LOOKS === 0 && performance.now() - since > MOST_MS;
    },
    async pause() {
      await setImmediate();
      signal.throwIfAborted();
      since = performance.now();
    },
  };
}

const ITEMS_BETWEEN_LOOKS = 32;
const MOST_MS = 8;
