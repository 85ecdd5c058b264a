// Who waits for news. A question is put there only while someone does; a reload, or a page that asks
// again in a moment, is no absence.

import type { LivePort } from "./ports.ts";

export type Attendance = ReturnType<typeof createAttendance>;

export function createAttendance(live: LivePort | undefined, graceMs: number) {
  let waiting = 0;
  let isAttending = false;
  let absent: NodeJS.Timeout | undefined;

  return {
    /** A page has asked for news. The function says that it does no longer wait for them. */
    seen(): () => void {
      clearTimeout(absent);
      waiting += 1;
      if (!isAttending) {
        isAttending = true;
        live?.attend();
      }
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        waiting -= 1;
        if (waiting === 0 && isAttending) absent = setTimeout(leave, graceMs);
      };
    },
    close: leave,
  };

  function leave(): void {
    clearTimeout(absent);
    if (!isAttending) return;
    isAttending = false;
    live?.leave();
  }
}

export type Heartbeat = ReturnType<typeof createHeartbeat>;

/** The beat at which those who wait for news look again. Without anyone waiting there is none. */
export function createHeartbeat(everyMs: number) {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Until the next beat; at once when the signal fires. */
    next(signal: AbortSignal): Promise<void> {
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
    /** Something is known to have changed: looks again now. */
    beat,
  };

  function beat(): void {
    // Each removes itself; one that comes meanwhile waits for the next beat.
    for (const go of Array.from(waiting)) go();
  }
}
