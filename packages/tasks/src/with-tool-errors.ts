// A refusal as the error of a call: what went wrong, and what the model can do about it.

import { ToolFailure, type ErrorClass, type Recovery } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { TaskRefused, type RefusalCode } from "./refusal.ts";

const MEANING: Readonly<Record<RefusalCode, readonly [ErrorClass, Recovery]>> = {
  task_unknown: ["invalid_arguments", "discover_first"],
  step_unknown: ["invalid_arguments", "discover_first"],
  not_allowed: ["policy_blocked", "none"],
  illegal_transition: ["invalid_arguments", "change_arguments"],
  task_ended: ["invalid_arguments", "none"],
  invalid_plan: ["invalid_arguments", "change_arguments"],
  version_conflict: ["invalid_arguments", "discover_first"],
  claim_held: ["invalid_arguments", "change_arguments"],
  step_not_ready: ["dependency_unavailable", "retry_after_delay"],
  claim_lost: ["execution_failed", "discover_first"],
  task_blocked: ["dependency_unavailable", "retry_after_delay"],
  steps_open: ["dependency_unavailable", "discover_first"],
};

export async function withToolErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    const { code, message, details } = error;
    const [error_class, recovery] = MEANING[code];
    throw new ToolFailure({
      code,
      message,
      error_class,
      recovery,
      retryable: recovery === "retry_after_delay",
      ...omitUndefined({ details }),
    });
  }
}
