// Why a lock could not be had: errors of a tool, because tools wait for most of the locks.

import { ToolFailure } from "@soong/core";

export function fileBusy(path: string, lock: string): ToolFailure {
  return new ToolFailure({
    code: "file_busy",
    message: `Another process of this user keeps writing ${shown(path)} (its lock is ${shown(lock)}). Try again shortly.`,
    recovery: "retry_after_delay",
    retryable: true,
    details: { path, lock },
  });
}

export function lockUnavailable(directory: string, why: string): ToolFailure {
  return new ToolFailure({
    code: "lock_unavailable",
    error_class: "setup_required",
    message: `The lock directory ${shown(directory)} cannot be used: ${why}. Nothing was written. Put that right, or configure another lock directory.`,
    recovery: "set_up_first",
    details: { directory },
  });
}

function shown(path: string): string {
  return JSON.stringify(path);
}
