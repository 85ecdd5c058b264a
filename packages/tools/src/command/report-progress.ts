// Progress of a running command (CMD-5): at once and then at least every two seconds, on a clock that a
// test can hold.

import type { Clock, ToolContext } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { CapturedOutput } from "./captured-output.ts";

/** Less than two seconds, because a timer never fires early. */
const EVERY_MS = 1500;

/** Until the returned function is called. */
export function reportProgress(
  clock: Clock,
  description: string | undefined,
  /** The last line of the first that has one is shown. */
  streams: readonly CapturedOutput[],
  { progress, redact }: Pick<ToolContext, "progress" | "redact">,
  {
    atOnce = true,
    mayShow = () => true,
  }: {
    readonly atOnce?: boolean;
    /** Whether a line of the output may be shown by now. */
    readonly mayShow?: () => boolean;
  } = {},
): () => void {
  const started = clock.monotonic();
  let cancel = (): void => {};
  if (atOnce) report();
  else cancel = clock.after(EVERY_MS, report);
  return () => cancel();

  function report(): void {
    const message = description ?? (mayShow() ? lastLine(streams, redact) : undefined);
    progress({
      ...omitUndefined({ message }),
      data: {
        elapsed_ms: clock.monotonic() - started,
        ...Object.fromEntries(streams.map(({ name, bytes }) => [`${name}_bytes`, bytes])),
      },
    });
    cancel = clock.after(EVERY_MS, report);
  }
}

const MOST_CHARS = 200;
/** A longer line is not shown at all: cut before its secrets are known, it might show half of one. */
const LONGEST_LINE = 4096;

/** The last line that one of them has written. */
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
