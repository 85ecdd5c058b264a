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
  [stdout, stderr]: readonly [CapturedOutput, CapturedOutput],
  { progress, redact }: Pick<ToolContext, "progress" | "redact">,
): () => void {
  const started = clock.monotonic();
  let cancel = (): void => {};
  report();
  return () => cancel();

  function report(): void {
    const message = description ?? lastLine([stdout, stderr], redact);
    progress({
      ...(message === undefined ? {} : { message }),
      data: {
        elapsed_ms: clock.monotonic() - started,
        stdout_bytes: stdout.bytes,
        stderr_bytes: stderr.bytes,
      },
    });
    cancel = clock.after(EVERY_MS, report);
  }
}
