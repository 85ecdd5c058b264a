// The beat at which those who wait for news look again. Without anyone waiting there is none.

export interface Heartbeat {
  /** Until the next beat; at once when the signal fires. */
  next(signal: AbortSignal): Promise<void>;
  /** Something is known to have changed: looks again now. */
  beat(): void;
}

export function createHeartbeat(everyMs: number): Heartbeat {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;

  return {
    next(signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const go = (): void => {
          waiting.delete(go);
          signal.removeEventListener("abort", go);
          if (waiting.size === 0) clearTimeout(timer);
          resolve();
        };
        if (waiting.size === 0) timer = setTimeout(beat, everyMs);
        waiting.add(go);
        signal.addEventListener("abort", go, { once: true });
      });
    },
    beat,
  };

  function beat(): void {
    // Each removes itself; one that comes meanwhile waits for the next beat.
    for (const go of Array.from(waiting)) go();
  }
}
