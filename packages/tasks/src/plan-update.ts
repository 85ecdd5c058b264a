// A task update (TASK-3): the operations are applied to a copy, one after the other, the whole is checked, and either
// all of it is written or nothing.

import { omitUndefined } from "@soong/schema";
import { findPlanProblems } from "./check-plan.ts";
import type { Draft } from "./draft.ts";
import { TASK_LIMITS } from "./limits.ts";
import {
  applyOperation,
  operationProblems,
  type GivenOperation,
  type TaskCopy,
  type TaskOperation,
} from "./operation.ts";
import { requireNone, requireOpen } from "./plan-task.ts";
import type { StepRecord, TaskRecord } from "./records.ts";
import { refuse } from "./refusal.ts";

export interface TaskUpdate {
  readonly task_id: string;
  /** Refused unless the plan still has this version. */
  readonly expected_version?: number | undefined;
  readonly operations: readonly GivenOperation[];
}

export function planUpdate(draft: Draft, task: TaskRecord, update: TaskUpdate): void {
  const { expected_version } = update;
  requireOpen(task);
  if (expected_version !== undefined && expected_version !== task.version) {
    throw refuse(
      "version_conflict",
      `The plan of task ${task.task_id} has version ${task.version}, not ${expected_version}: it was changed meanwhile. Nothing was done; look at it with task_get and send what is still right.`,
      { version: task.version },
    );
  }
  requireNone(listProblems(update.operations));
  // Their fields were checked just now.
  const operations = update.operations as readonly TaskOperation[];
  const copy: TaskCopy = {
    task: { ...task, version: task.version + 1, updated_at: draft.at },
    steps: draft.steps(),
    added: new Set(),
    at: draft.at,
    maxAttempts: draft.maxAttempts,
    facts: [],
  };
  requireNone(
    operations.flatMap((operation, i) => {
      const problem = applyOperation(copy, operation);
      return problem === undefined ? [] : [`operations[${i}] (${operation.op}): ${problem}`];
    }),
  );
  requireNone(findPlanProblems(copy.steps));
  writeUpdate(draft, task, copy, operations);
}

function listProblems(operations: readonly GivenOperation[]): string[] {
  const { operations: most } = TASK_LIMITS;
  if (!Array.isArray(operations) || operations.length === 0) {
    return ["operations must be a list of at least one operation"];
  }
  if (operations.length > most) {
    return [
      `${operations.length} operations are more than the ${most} of one update: send them in several`,
    ];
  }
  return operations.flatMap((one, i) => operationProblems(one, `operations[${i}]`));
}

function writeUpdate(
  draft: Draft,
  before: TaskRecord,
  copy: TaskCopy,
  operations: readonly TaskOperation[],
): void {
  const kept = draft.steps().filter(({ step_id }) => !copy.added.has(step_id));
  const old = new Map(kept.map((step) => [step.step_id, step]));
  for (const step_id of copy.added) draft.removeStep(step_id);
  const done = new Set(
    copy.steps.flatMap(({ step_id, status }) => (status === "completed" ? [step_id] : [])),
  );
  for (const [position, step] of copy.steps.entries()) {
    const next = countDependencies({ ...step, position }, done);
    const was = old.get(step.step_id);
    old.delete(step.step_id);
    if (was === undefined || isRedefined(was, next)) draft.putDefinedStep(next);
    else if (step !== was || isMoved(was, next)) draft.putStep(next);
  }
  for (const step_id of old.keys()) draft.removeStep(step_id);
  draft.putTask(copy.task);
  if (before.status !== copy.task.status) {
    const { reason } = copy.task;
    const type = copy.task.status === "blocked" ? "task.blocked" : "task.unblocked";
    draft.addFact(type, copy.task, omitUndefined({ reason }));
  }
  draft.addFact("task.updated", copy.task, {
    version: copy.task.version,
    steps: copy.steps.length,
    operations: operations.slice(0, MAX_RECORDED_OPERATIONS).map((operation) => ({
      op: operation.op,
      ...("step_id" in operation && { step_id: operation.step_id }),
    })),
    ...(operations.length > MAX_RECORDED_OPERATIONS && { operations_in_all: operations.length }),
  });
  for (const { type, data } of copy.facts) draft.addFact(type, data, data);
}

const MAX_RECORDED_OPERATIONS = 50;

function countDependencies(step: StepRecord, done: ReadonlySet<string>): StepRecord {
  const open_dependencies = step.depends_on.filter((id) => !done.has(id)).length;
  const isWaiting = step.status === "pending" || step.status === "ready";
  const status = isWaiting ? (open_dependencies === 0 ? "ready" : "pending") : step.status;
  return { ...step, open_dependencies, status };
}

function isRedefined(was: StepRecord, is: StepRecord): boolean {
  return (
    (["title", "instructions", "expected_output"] as const).some((key) => was[key] !== is[key]) ||
    was.depends_on.length !== is.depends_on.length ||
    was.depends_on.some((id, i) => id !== is.depends_on[i])
  );
}

function isMoved(was: StepRecord, is: StepRecord): boolean {
  return (["position", "status", "open_dependencies"] as const).some((key) => was[key] !== is[key]);
}
