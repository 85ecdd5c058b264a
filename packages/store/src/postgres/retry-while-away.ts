// Tries again while the database is away, within a bound that counts from when it went: who comes late does not wait for as
// long once more.

import { setTimeout as delay } from "node:timers/promises";
import { isAway } from "./postgres-error.ts";

export interface RetryWhileAway {
  /** The work has to bear being done twice. `check` throws where there is no more use in it. */
  <T>(work: () => Promise<T>, check?: () => void): Promise<T>;
}

const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** `onAway`: called each time that it goes. */
export function createRetry(boundMs: number, onAway?: () => void): RetryWhileAway {
  let awaySince: number | undefined;
  return async (work, check) => {
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const begunAt = performance.now();
      let leftMs: number;
      try {
        const done = await work();
        awaySince = undefined;
        return done;
      } catch (error) {
        check?.();
        if (!isAway(error)) {
          awaySince = undefined;
          throw error;
        }
        if (awaySince === undefined) {
          awaySince = begunAt;
          onAway?.();
        }
        leftMs = awaySince + boundMs - performance.now();
        if (leftMs <= 0) throw error;
      }
      await delay(Math.min(leftMs, pauseMs * (0.5 + Math.random())));
    }
  };
}
