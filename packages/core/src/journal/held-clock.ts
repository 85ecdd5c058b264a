// A clock that stands still until it is moved, so that a test of time takes none. Part of the package
// because whoever builds on the kernel has the same tests to write.

import type { Clock } from "./ports.ts";

export interface HeldClock extends Clock {
  /** Moves time on, firing what comes due in order, and lets what follows from it happen. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day, as someone does by hand: nothing comes due, and no time has passed. */
  set(now: number): void;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Timers that have not fired: none may be left when a run has ended. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Longer than any chain of promises between two timers in the kernel. */
const MICROTASKS = 200;

/** A clock for tests: time passes only by `advance`. */
export function createHeldClock(start = 0): HeldClock {
  let now = start;
  /** How far the time of day is from `now`. */
  let offset = 0;
  let order = 0;
  const timers = new Set<Timer>();

  return {
    now: () => now + offset,
    monotonic: () => now,
    set(time) {
      offset = time - now;
    },
    after(ms, callback) {
      order += 1;
      const timer: Timer = { at: now + Math.max(0, ms), order, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const target = now + ms;
      await settle();
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer);
        now = timer.at;
        timer.callback();
        await settle();
      }
      now = target;
    },
    settle,
    get pending() {
      return timers.size;
    },
  };

  function nextDue(target: number): Timer | undefined {
    let due: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > target) continue;
      if (
        due === undefined ||
        timer.at < due.at ||
        (timer.at === due.at && timer.order < due.order)
      ) {
        due = timer;
      }
    }
    return due;
  }

  async function settle(): Promise<void> {
    for (let i = 0; i < MICROTASKS; i += 1) await Promise.resolve();
  }
}
