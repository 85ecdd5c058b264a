// Why something is not done to a task, in words for the model that asked. A value while a change is planned (what was
// found out on the way may have to be written all the same), an exception in the public API.

import { type JsonObject, SoongError } from "@soong/core";
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

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  readonly details?: JsonObject;
}

export class TaskRefused extends SoongError<RefusalCode> {
  override readonly name = "TaskRefused";
  readonly details: JsonObject | undefined;

  constructor({ code, message, details }: Refusal) {
    super(code, message);
    this.details = details;
  }
}

export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal };

export function refuse(
  code: RefusalCode,
  message: string,
  details?: JsonObject,
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message, ...omitUndefined({ details }) } };
}
