// Whether someone looks at the page. A question is put there only while someone does; a reload, or a page that asks
// again in a moment, is no absence.

import type { LivePort } from "./ports.ts";

export interface Attendance {
  /** A page has asked for news. The function says that it does no longer wait for them. */
  seen(): () => void;
  close(): void;
}

export function createAttendance(live: LivePort | undefined, graceMs: number): Attendance {
  let waiting = 0;
  let isAttending = false;
  let absent: NodeJS.Timeout | undefined;

  return {
    seen() {
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
