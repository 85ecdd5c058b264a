// Retries while the database is unreachable, within a bound that counts from the first failure: a late caller does not wait for the
// whole bound again.

import { setTimeout as delay } from "node:timers/promises";
import { isAway, PostgresError } from "./postgres-error.ts";

export interface RetryWhileAway {
  /** `work` must be safe to repeat. `check` throws if a retry is of no use any more. */
  <T>(work: () => Promise<T>, check?: () => void): Promise<T>;
}

const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

export interface AwayListener {
  /** The database has become unreachable. */
  onAway?(): void;
  /** It answers again. */
  onBack?(): void;
}

export function createRetry(boundMs: number, listener: AwayListener = {}): RetryWhileAway {
  let awaySince: number | undefined;
  return async (work, check) => {
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const begunAt = performance.now();
      let leftMs: number;
      try {
        const done = await work();
        answered();
        return done;
      } catch (error) {
        check?.();
        if (!isAway(error)) {
          // An error of this process, such as of a closed store, is no answer.
          if (error instanceof PostgresError && error.state !== "") answered();
          throw error;
        }
        if (awaySince === undefined) {
          awaySince = begunAt;
          listener.onAway?.();
        }
        leftMs = awaySince + boundMs - performance.now();
        if (leftMs <= 0) throw error;
      }
      await delay(Math.min(leftMs, pauseMs * (0.5 + Math.random())));
    }
  };

  function answered(): void {
    if (awaySince === undefined) return;
    awaySince = undefined;
    listener.onBack?.();
  }
}
