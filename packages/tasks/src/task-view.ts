// Tasks and steps as a model reads them: what it can act on, within bounds, and never the token of a claim.

import type { JsonObject } from "@soong/core";
import { asJson } from "@soong/schema";
import { describeClaim } from "./draft.ts";
import { STEP_STATUSES, type StepCounts, type StepRecord, type TaskRecord } from "./records.ts";
import type { TaskWithCounts } from "./task-reader.ts";

export function viewTask({ task, counts }: TaskWithCounts): JsonObject {
  return { ...asJson(task), steps: viewCounts(counts) };
}

/** In a list there are many: without what only matters when looking at one. */
export function viewListedTask(task: TaskRecord): JsonObject {
  const { task_id, title, status, version, created_at, updated_at, reason } = task;
  const base = { task_id, title, status, version, created_at, updated_at };
  return reason === undefined ? base : { ...base, reason: reason.slice(0, 200) };
}

export function viewCounts(counts: StepCounts): JsonObject {
  const there = STEP_STATUSES.flatMap((status) =>
    counts[status] > 0 ? [[status, counts[status]] as const] : [],
  );
  const total = there.reduce((sum, [, count]) => sum + count, 0);
  return { total, ...Object.fromEntries(there) };
}

export function viewStep({ claim, ...step }: StepRecord): JsonObject {
  const shown = claim === undefined ? {} : { claim: describeClaim(claim) };
  return asJson({ ...step, ...shown });
}

export function viewStepBriefly(step: StepRecord): JsonObject {
  const { step_id, title, status, depends_on, attempts, max_attempts, position } = step;
  const { claim, reason, failure, result } = step;
  return {
    step_id,
    title,
    status,
    position,
    depends_on: [...depends_on],
    attempts,
    max_attempts,
    ...(claim === undefined ? {} : { claimed_by: claim.worker ?? claim.run_id }),
    ...(reason === undefined ? {} : { reason: reason.slice(0, BRIEF_CHARS) }),
    ...(status === "failed" && failure !== undefined
      ? { failure: failure.message.slice(0, BRIEF_CHARS) }
      : {}),
    ...(result === undefined ? {} : { summary: result.summary.slice(0, BRIEF_CHARS) }),
  };
}

const BRIEF_CHARS = 300;
