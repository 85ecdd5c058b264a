// A model request that is made again: why, of whom and when, in one line.

import type { LoopEvent } from "@soong/agent";
import { formatDuration, visibleLine } from "../output/index.ts";

export type Abandoned = Extract<LoopEvent, { type: "abandoned" }>;

/** `before`: the one that was shown last, whose reason is not repeated. */
export function describeRetry(event: Abandoned, before?: Abandoned): string {
  const { reason, had_begun, model, wait_ms, retry } = event;
  const when = wait_ms === 0 ? "" : ` in ${formatDuration(wait_ms)}`;
  const next =
    retry === undefined
      ? `Asking ${visibleLine(model)} instead.`
      : `Retry ${retry.count} of ${retry.of}${when}.`;
  const isNext = retry !== undefined && retry.count === (before?.retry?.count ?? 0) + 1;
  if (isNext && !had_begun && before?.reason === reason) return `The same error. ${next}`;
  const lost = had_begun ? "The answer broke off, and what it had said does not count. " : "";
  // What a provider said ends as it likes.
  const why = visibleLine(reason).replace(/[^.!?…]$/, "$&.");
  return `${lost}${why} ${next}`;
}
