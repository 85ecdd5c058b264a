// Yields to the event loop during a long synchronous walk, and notices there
// that the call was cancelled.

import { setImmediate } from "node:timers/promises";

export interface EventLoopYield {
  /** Cheap; ask for every item. */
  isDue(): boolean;
  /** Throws the reason when the call was cancelled meanwhile. */
  pause(): Promise<void>;
}

export function createEventLoopYield(signal: AbortSignal): EventLoopYield {
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
