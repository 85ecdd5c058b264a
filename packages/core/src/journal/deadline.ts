// Waiting for code that is not ours: it may throw, hang, or answer with a thenable that does either.

import type { Clock } from "./ports.ts";

export type Waited<T> =
  | { kind: "answered"; value: T }
  | { kind: "threw"; error: unknown }
  | { kind: "timed_out"; ms: number };

/** Never rejects and never waits longer than `ms` (undefined: as long as it takes). */
export function within<T>(
  clock: Clock,
  ms: number | undefined,
  work: () => T | PromiseLike<T>,
): Waited<T> | Promise<Waited<T>> {
  let started: T | PromiseLike<T>;
  try {
    started = work();
    if (!isThenable(started)) return { kind: "answered", value: started };
  } catch (error) {
    return { kind: "threw", error };
  }
  const pending = started;
  return new Promise((resolve) => {
    const forget =
      ms === undefined ? () => {} : clock.after(ms, () => resolve({ kind: "timed_out", ms }));
    const settle = (waited: Waited<T>): void => {
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
}

export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    typeof (value as PromiseLike<T>).then === "function"
  );
}
