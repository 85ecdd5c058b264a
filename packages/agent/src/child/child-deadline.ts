// How long a child may take, on a clock that is paused while an approval is pending (PIPE-6).

import type { Clock } from "@soong/core";

export interface ChildDeadline {
  readonly limitMs: number;
  /** So far, without the time it was paused. */
  elapsed(): number;
  pause(): void;
  resume(): void;
  stop(): void;
}

export function createChildDeadline(
  clock: Clock,
  limitMs: number,
  expired: () => void,
): ChildDeadline {
  let counted = 0;
  let since: number | undefined;
  let forget = (): void => {};
  resume();
  return { limitMs, elapsed, pause, resume, stop: pause };

  function elapsed(): number {
    return counted + (since === undefined ? 0 : clock.monotonic() - since);
  }

  function pause(): void {
    counted = elapsed();
    since = undefined;
    forget();
  }

  function resume(): void {
    if (since !== undefined) return;
    since = clock.monotonic();
    forget = clock.after(Math.max(0, limitMs - counted), expired);
  }
}
