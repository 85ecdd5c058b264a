// Bounded waiting, the one way for all packages: for work, but no longer than a time, or than a signal lets us.

import { systemClock, type Clock } from "@soong/core";

export interface TimeLimit {
  readonly ms?: number;
  /** An AbortSignal, or as much of one. */
  readonly signal?: {
    readonly aborted: boolean;
    addEventListener(type: "abort", listener: () => void): void;
    removeEventListener(type: "abort", listener: () => void): void;
  };
  /** Default: the system's. */
  readonly clock?: Pick<Clock, "after">;
}

export type InTime<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "late" }
  | { readonly kind: "aborted" };

/** Rejects as the work does. What the work still comes to when no one waits any more is dropped. */
export function inTime<T>(work: PromiseLike<T>, limit: TimeLimit): Promise<InTime<T>> {
  const { ms, signal, clock = systemClock() } = limit;
  return new Promise((resolve, reject) => {
    const abort = (): void => settle(() => resolve({ kind: "aborted" }));
    const disarm =
      ms === undefined ? undefined : clock.after(ms, () => settle(() => resolve({ kind: "late" })));
    signal?.addEventListener("abort", abort);
    work.then(
      (value) => settle(() => resolve({ kind: "done", value })),
      (error: Error) => settle(() => reject(error)),
    );
    if (signal?.aborted === true) abort();

    function settle(end: () => void): void {
      disarm?.();
      signal?.removeEventListener("abort", abort);
      end();
    }
  });
}
