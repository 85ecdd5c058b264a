// The one reason why a process is stopped before its own end, whoever comes first: its time is up, its
// signal fires, or somebody asks for it.

export type StopReason = "timeout" | "abort";

export interface Stop {
  /** Settles with the first request. */
  readonly requested: Promise<void>;
  reason(): StopReason | undefined;
  request(why: StopReason): void;
  /** Lets go of the timer and the signal. */
  release(): void;
}

/** What a timer can hold; more would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function createStop(options: { signal?: AbortSignal; timeoutMs?: number }): Stop {
  const { signal, timeoutMs } = options;
  let reason: StopReason | undefined;
  let settle: () => void;
  const requested = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const request = (why: StopReason) => {
    reason ??= why;
    settle();
  };
  const onAbort = () => request("abort");
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(request, Math.min(timeoutMs, LONGEST_TIMEOUT_MS), "timeout");

  return {
    requested,
    reason: () => reason,
    request,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
