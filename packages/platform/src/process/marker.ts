// The name every process of a command carries in its environment, by which those are found that left its
// group and session. A runtime that is itself a command of another one adds to the outer marker instead
// of replacing it, so that the outer runtime still finds what the inner one started.

import { randomBytes } from "node:crypto";

export const MARKER_NAME = "SOONG_PROCESS";

/** In the environment of all that this runtime starts: what the watchdog looks for. */
export const RUNTIME_TOKEN = randomBytes(16).toString("hex");

export interface Marker {
  /** The value for the environment. */
  readonly value: string;
  /** What tells this command's processes from all others. */
  readonly bytes: Buffer;
}

let count = 0;

export function nextMarker(): Marker {
  count += 1;
  // Closed by a semicolon, or the first command would claim the processes of the tenth.
  const own = `${RUNTIME_TOKEN}.${count};`;
  return { value: `${process.env[MARKER_NAME] ?? ""}${own}`, bytes: Buffer.from(own) };
}
