// What goes wrong in the background, sent on: without secrets, and not again and again while a database is away.

import { asQueueError, type QueueAddress } from "./queue-error.ts";

const SILENT_MS = 30_000;
const MAX_KNOWN = 100;

/** `what` the queue does with it, as the middle of a sentence. */
export type ReportError = (error: unknown, what?: string) => void;

export function createErrorReporter(
  address: QueueAddress,
  onError: ((error: Error) => void) | undefined,
  now: () => number = () => performance.now(),
): ReportError {
  const sentAt = new Map<string, number>();
  return (error, what = "reports") => {
    const shown = asQueueError(error, address, what);
    const last = sentAt.get(shown.message);
    if (last !== undefined && now() - last < SILENT_MS) return;
    if (sentAt.size >= MAX_KNOWN) sentAt.clear();
    sentAt.set(shown.message, now());
    onError?.(shown);
  };
}
