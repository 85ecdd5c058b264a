// Waiting for code that is not ours: it may throw, hang, or answer with a thenable that does either.

import type { Clock } from "./ports.ts";

export type Waited<T> =
  | { kind: "answered"; value: T }
  | { kind: "threw"; error: unknown }
  | { kind: "timed_out"; ms: number };

/** The caller stopped waiting; any later answer is ignored. */
export type GivenUp = { kind: "given_up" };

export interface Waiting<T> {
  readonly done: Promise<Waited<T> | GivenUp>;
  readonly giveUp: () => void;
}

/** Never rejects and never waits longer than `ms` (undefined: as long as it takes). */
export async function within<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Promise<Waited<T>> {
  // No one else has the handle, so no one gives up.
  return (await beginWaiting(clock, ms, work).done) as Waited<T>;
}

export function beginWaiting<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waiting<T> {
  // A promise of our own, because a foreign `then` may call back twice or throw. Begun before the timer is set: timers
  // that the work sets for the same moment fire first.
  const answer = new Promise<T>((take) => {
    take(work());
  });
  let settle: (waited: Waited<T> | GivenUp) => void = () => {};
  const done = new Promise<Waited<T> | GivenUp>((resolve) => {
    const forget =
      ms === undefined ? undefined : clock.after(ms, () => resolve({ kind: "timed_out", ms }));
    settle = (waited) => {
      forget?.();
      resolve(waited);
    };
  });
  answer.then(
    (value) => settle({ kind: "answered", value }),
    (error: unknown) => settle({ kind: "threw", error }),
  );
  return { done, giveUp: () => settle({ kind: "given_up" }) };
}
