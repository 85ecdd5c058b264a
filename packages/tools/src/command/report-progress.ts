// Progress of a running command (CMD-5): at once and then at least every two seconds, on a clock that a
// test can hold.

import type { Clock, ToolContext } from "@soong/core";
import type { CapturedOutput } from "./captured-output.ts";
import { lastLine } from "./last-line.ts";

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
      ...(message === undefined ? {} : { message }),
      data: {
        elapsed_ms: clock.monotonic() - started,
        ...Object.fromEntries(streams.map(({ name, bytes }) => [`${name}_bytes`, bytes])),
      },
    });
    cancel = clock.after(EVERY_MS, report);
  }
}
