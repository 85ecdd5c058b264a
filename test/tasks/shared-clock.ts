// One clock for several processes, which a test can move on: the time, and an hour for each byte of a file.

import { appendFileSync, statSync } from "node:fs";
import { join } from "node:path";

const HOUR_MS = 3_600_000;

export function sharedClock(directory: string): { now(): number } {
  return {
    now: () =>
      Date.now() + (statSync(hoursIn(directory), { throwIfNoEntry: false })?.size ?? 0) * HOUR_MS,
  };
}

/** For everyone at once: no one may judge by a time that is another's past. */
export function advanceAnHour(directory: string): void {
  appendFileSync(hoursIn(directory), "h");
}

function hoursIn(directory: string): string {
  return join(directory, "hours");
}
