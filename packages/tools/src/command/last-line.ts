// The last line a running command has written, for whoever watches.

import type { CapturedOutput } from "./captured-output.ts";

const MOST_CHARS = 200;
/** A longer line is not shown at all: cut before its secrets are known, it might show half of one. */
const LONGEST_LINE = 4096;

export function lastLine(
  streams: readonly CapturedOutput[],
  redact: (text: string) => string,
): string | undefined {
  for (const { recent } of streams) {
    const text = Buffer.from(recent.subarray(-LONGEST_LINE)).toString("utf8").trimEnd();
    const start = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
    const isWhole = start > 0 || recent.length < LONGEST_LINE;
    const line = isWhole
      ? redact(text.slice(start))
          .replaceAll(/\p{Cc}+/gu, " ")
          .trim()
      : "";
    if (line !== "") return line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS - 1)}…` : line;
  }
  return undefined;
}
