// Why something is not done to a task, in words for the model that asked.

import {
  type JsonObject,
  SoongError,
  ToolFailure,
  type ErrorClass,
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

interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly details?: JsonObject | undefined;
}

export class TaskRefused extends SoongError<RefusalCode> {
  override readonly name = "TaskRefused";
  readonly details: JsonObject | undefined;

  constructor({ code, message, details }: Refusal) {
    super(code, message);
    this.details = details;
  }
}

/** Ends the planning of a change. What was found out until then, such as lost leases, is written all the same. */
export function refuse(code: RefusalCode, message: string, details?: JsonObject): never {
  throw new TaskRefused({ code, message, details });
}

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
