// Why something is not done to a task, in words for the model that asked. What a plan found out before it was refused
// (leases that ran out) is written all the same.

import {
  SoongError,
  ToolFailure,
  type ErrorClass,
  type JsonObject,
  type Recovery,
} from "@soong/core";
import { omitUndefined } from "@soong/schema";

export type RefusalCode =
  /** There is no such task, or it is not this actor's to know of. */
  | "task_unknown"
  | "step_unknown"
  /** The actor may not do this (TASK-5). */
  | "not_allowed"
  | "illegal_transition"
  /** The task has ended; it is never changed again. */
  | "task_ended"
  /** The plan would not be a DAG, names what is not there, or is out of bounds. */
  | "invalid_plan"
  /** The plan was changed meanwhile. */
  | "version_conflict"
  /** The run works on a step already. */
  | "claim_held"
  | "step_not_ready"
  /** The lease has run out, or the claim was taken away: what came of it does not count. */
  | "claim_lost"
  | "task_blocked"
  | "steps_open";

/** What each means as the error of a call, and what the model can do about it. */
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

export class TaskRefused extends SoongError<RefusalCode> {
  override readonly name = "TaskRefused";
  readonly details: JsonObject | undefined;

  constructor(refusal: {
    readonly code: RefusalCode;
    readonly message: string;
    readonly details?: JsonObject | undefined;
  }) {
    super(refusal.code, refusal.message);
    this.details = refusal.details;
  }
}

/** To be thrown. */
export function refuse(code: RefusalCode, message: string, details?: JsonObject): TaskRefused {
  return new TaskRefused({ code, message, details });
}

/** What the work comes to; a refusal is the error of the call. */
export async function withToolErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    const { code, message, details } = error;
    const [error_class, recovery] = MEANING[code];
    const retryable = recovery === "retry_after_delay";
    const about = { code, message, error_class, recovery, retryable };
    throw new ToolFailure({ ...about, ...omitUndefined({ details }) });
  }
}
