// Reports errors of the background work: without secrets, and the same message at most every 30 seconds.

import { asQueueError, type QueueAddress } from "./queue-error.ts";

const SILENT_MS = 30_000;
const MAX_KNOWN = 100;

/** `what`: what the queue does about the error, as the predicate of "the job queue at …". */
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
