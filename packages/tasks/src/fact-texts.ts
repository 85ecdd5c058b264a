// What the facts of tasks say.

import { countOf, inBrackets, phrase, type FactTexts } from "@soong/core";
import type { TaskFactPayloads } from "./facts.ts";

export const TASK_FACT_TEXTS: FactTexts<keyof TaskFactPayloads> = {
  "task.created": ({ task_id, title, steps }) =>
    phrase(`${task_id} created:`, title, inBrackets(countOf(steps, "step"))),
  "task.started": ({ task_id }) => `${task_id} started`,
  "task.updated": ({ task_id, version, operations, operations_in_all }) =>
    `${task_id} changed to version ${version} (${countOf(operations_in_all ?? operations.length, "operation")})`,
  "task.blocked": ({ task_id, reason }) => phrase(`${task_id} blocked`, inBrackets(reason)),
  "task.unblocked": ({ task_id, reason }) => phrase(`${task_id} unblocked`, inBrackets(reason)),
  "task.completed": ({ task_id, summary }) => phrase(`${task_id} completed:`, summary),
  "task.failed": ({ task_id, reason }) => phrase(`${task_id} failed:`, reason),
  "task.cancelled": ({ task_id, reason }) => phrase(`${task_id} cancelled:`, reason),
  "task.step.claimed": (data) =>
    phrase(
      `${stepText(data)} claimed by`,
      data.claim.worker ?? data.claim.run_id,
      attemptText(data),
    ),
  "task.step.dispatched": (data) => phrase(`${stepText(data)} dispatched to`, data.worker),
  "task.step.started": (data) => phrase(stepText(data), "started", attemptText(data)),
  "task.step.completed": (data) => phrase(`${stepText(data)} completed:`, data.summary),
  "task.step.failed": (data) => phrase(`${stepText(data)} failed:`, data.reason, attemptText(data)),
  "task.step.blocked": (data) => phrase(`${stepText(data)} blocked:`, data.reason),
  "task.step.cancelled": (data) => phrase(`${stepText(data)} cancelled:`, data.reason),
  "task.step.unblocked": (data) => `${stepText(data)} unblocked`,
  "task.step.retried": (data) => `${stepText(data)} is to be tried again`,
  "task.step.released": (data) => phrase(`${stepText(data)} released:`, data.reason),
  "task.step.lease_lost": (data) => phrase(`${stepText(data)} lost its worker:`, data.reason),
  "task.step.not_released": ({ message }) => message,
};

function stepText({ task_id, step_id }: { task_id: string; step_id: string }): string {
  return `${task_id} ${step_id}`;
}

function attemptText({ attempt }: { attempt: number }): string | undefined {
  return attempt > 1 ? `(attempt ${attempt})` : undefined;
}
