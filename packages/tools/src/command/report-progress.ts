// Progress of a running command (CMD-5): at once and then at least every two seconds, on a clock that a
// test can hold. With the last lines of its output, for users who watch it.

import type { Clock, ToolContext } from "@soong/core";
import { MARGIN, stripEscapes } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import type { CapturedOutput } from "./captured-output.ts";
import { redactedEnd } from "./shown-output.ts";

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
  const reported = new Map<CapturedOutput, number>();
  let cancel = (): void => {};
  if (atOnce) report();
  else cancel = clock.after(EVERY_MS, report);
  return () => cancel();

  function report(): void {
    const maySay = mayShow();
    const message = description ?? (maySay ? lastLine(streams, redact) : undefined);
    const tail = maySay ? lastLines(latestOf(streams, reported), redact) : [];
    for (const stream of streams) reported.set(stream, stream.bytes);
    progress({
      ...omitUndefined({ message }),
      data: {
        elapsed_ms: clock.monotonic() - started,
        ...Object.fromEntries(streams.map(({ name, bytes }) => [`${name}_bytes`, bytes])),
        ...(tail.length === 0 ? {} : { tail }),
      },
    });
    cancel = clock.after(EVERY_MS, report);
  }
}

/** The first that wrote something since the last report, or ever. */
function latestOf(
  streams: readonly CapturedOutput[],
  reported: ReadonlyMap<CapturedOutput, number>,
): CapturedOutput | undefined {
  return (
    streams.find((stream) => stream.bytes > (reported.get(stream) ?? 0)) ??
    streams.find(({ bytes }) => bytes > 0)
  );
}

const MOST_LINES = 5;
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

/** The last lines as a terminal would show them. Secrets are hidden before anything is cut, and again once it is put together. */
export function lastLines(
  stream: Pick<CapturedOutput, "recent" | "bytes"> | undefined,
  redact: (text: string) => string,
): string[] {
  if (stream === undefined) return [];
  const { recent, bytes } = stream;
  const latest = recent.subarray(-(MARGIN + LONGEST_LINE));
  const isWhole = latest.length === bytes;
  const text = isWhole ? redact(latest.toString("utf8")) : redactedEnd(latest, redact);
  const lines = redact(stripEscapes(text))
    .split("\n")
    // What a carriage return is behind was overwritten.
    .map((line) => line.trimEnd().split("\r").at(-1) ?? "")
    // Without its beginning a line says nothing.
    .slice(isWhole ? 0 : 1)
    .map((line) => line.replaceAll("\t", "    ").replaceAll(/\p{Cc}+/gu, ""))
    .filter((line) => line.trim() !== "");
  return lines
    .slice(-MOST_LINES)
    .map((line) => (line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS - 1)}…` : line));
}
