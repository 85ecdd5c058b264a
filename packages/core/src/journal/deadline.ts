// Waiting for code that is not ours: it may throw, hang, or answer with a thenable that does either.

import type { Clock } from "./ports.ts";

export type Waited<T> =
  | { kind: "answered"; value: T }
  | { kind: "threw"; error: unknown }
  | { kind: "timed_out"; ms: number };

/** Somebody stopped waiting; whatever comes later is not heard. */
export type GivenUp = { kind: "given_up" };

export interface Waiting<T> {
  readonly done: Waited<T> | Promise<Waited<T> | GivenUp>;
  readonly giveUp: () => void;
}

/** Never rejects and never waits longer than `ms` (undefined: as long as it takes). */
export function within<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waited<T> | Promise<Waited<T>> {
  // Nobody else has the handle, so nobody gives up.
  return beginWaiting(clock, ms, work).done as Waited<T> | Promise<Waited<T>>;
}

export function beginWaiting<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waiting<T> {
  let started: T | PromiseLike<T>;
  try {
    started = work();
    if (!isThenable(started)) return settled({ kind: "answered", value: started });
  } catch (error) {
    return settled({ kind: "threw", error });
  }
  const pending = started;
  let settle: (waited: Waited<T> | GivenUp) => void = () => {};
  const done = new Promise<Waited<T> | GivenUp>((resolve) => {
    let forget: () => void = () => {};
    if (ms !== undefined) forget = clock.after(ms, () => resolve({ kind: "timed_out", ms }));
    settle = (waited) => {
      forget();
      resolve(waited);
    };
    // Through a promise of our own: a hostile `then` may call back twice or throw.
    new Promise<T>((take) => {
      take(pending);
    }).then(
      (value) => settle({ kind: "answered", value }),
      (error: unknown) => settle({ kind: "threw", error }),
    );
  });
  return { done, giveUp: () => settle({ kind: "given_up" }) };
}

function settled<T>(waited: Waited<T>): Waiting<T> {
  return { done: waited, giveUp: () => {} };
}

export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as PromiseLike<T>).then === "function"
  );
}
