// A model request that is made again: why, of whom and when, in one line.

import type { LoopEvent } from "@soong/agent";
import { visibleLine } from "../output/index.ts";
import { formatDuration } from "./call-board.ts";

export function describeRetry(event: Extract<LoopEvent, { type: "abandoned" }>): string {
  const { reason, had_begun, model, wait_ms, retry } = event;
  const when = wait_ms === 0 ? "" : ` in ${formatDuration(wait_ms)}`;
  const next =
    retry === undefined
      ? `Asking ${visibleLine(model)} instead.`
      : `Retry ${retry.count} of ${retry.of}${when}.`;
  const lost = had_begun ? "The answer broke off, and what it had said does not count. " : "";
  // What a provider said ends as it likes.
  const why = visibleLine(reason).replace(/[^.!?…]$/, "$&.");
  return `${lost}${why} ${next}`;
}
