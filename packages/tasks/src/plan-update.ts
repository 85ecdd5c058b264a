// A task update (TASK-3): the operations are applied to a copy, one after the other, the whole is checked, and either
// all of it is written or nothing.

import {
  applyOperation,
  type TaskCopy,
  operationProblems,
  type GivenOperation,
  type TaskOperation,
} from "./operation.ts";
import { findPlanProblems, artifactsProblem, textProblem } from "./check-plan.ts";
import { type Draft, describeClaim, shortenForFact, withoutClaim, toStepCounts } from "./draft.ts";
import {
  TASK_LIMITS,
  isTaskEnded,
  type StepRecord,
  type TaskRecord,
  isStepOver,
  STEP_STATUSES,
} from "./records.ts";
import { refusePlan } from "./new-task.ts";
import { refuse } from "./refusal.ts";
import type { PublicClaim } from "./facts.ts";
import { checkTaskTransition } from "./transitions.ts";

export interface TaskUpdate {
  readonly task_id: string;
  /** Refused unless the plan still has this version. */
  readonly expected_version?: number | undefined;
  readonly operations: readonly GivenOperation[];
}

export function planUpdate(draft: Draft, task: TaskRecord, update: TaskUpdate): TaskRecord {
  const { expected_version, operations } = update;
  if (isTaskEnded(task.status)) return refuseEnded(task);
  if (expected_version !== undefined && expected_version !== task.version) {
    return refuse(
      "version_conflict",
      `The plan of task ${task.task_id} has version ${task.version}, not ${expected_version}: it was changed meanwhile. Nothing was done; look at it with task_get and send what is still right.`,
      { version: task.version },
    );
  }
  const wrong: string[] = [];
  if (!checkOperations(operations, wrong)) return refusePlan(wrong);
  const copy: TaskCopy = {
    task: { ...task, version: task.version + 1, updated_at: draft.at },
    steps: draft.steps(),
    added: new Set(),
    at: draft.at,
    maxAttempts: draft.maxAttempts,
    problems: [],
    facts: [],
  };
  for (const [i, operation] of operations.entries())
    applyOperation(copy, operation, `operations[${i}]`);
  const problems = copy.problems.length > 0 ? copy.problems : findPlanProblems(copy.steps);
  if (problems.length > 0) return refusePlan(problems);
  writeUpdate(draft, task, copy, operations);
  return copy.task;
}

export function refuseEnded(task: TaskRecord): never {
  return refuse(
    "task_ended",
    `Task ${task.task_id} is ${task.status}, and nothing follows that. Create another task for what is left to do.`,
    { status: task.status },
  );
}

function checkOperations(
  operations: readonly GivenOperation[],
  problems: string[],
): operations is readonly TaskOperation[] {
  const { operations: most } = TASK_LIMITS;
  if (!Array.isArray(operations) || operations.length === 0) {
    problems.push("operations must be a list of at least one operation");
  } else if (operations.length > most) {
    problems.push(
      `${operations.length} operations are more than the ${most} of one update: send them in several`,
    );
  } else {
    for (const [i, one] of operations.entries()) {
      problems.push(...operationProblems(one, `operations[${i}]`));
    }
  }
  return problems.length === 0;
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
    draft.addFact(type, copy.task, reason === undefined ? {} : { reason });
  }
  draft.addFact("task.updated", copy.task, {
    version: copy.task.version,
    steps: copy.steps.length,
    operations: operations.slice(0, MAX_RECORDED_OPERATIONS).map((operation) => ({
      op: operation.op,
      ...("step_id" in operation ? { step_id: operation.step_id } : {}),
    })),
    ...(operations.length > MAX_RECORDED_OPERATIONS
      ? { operations_in_all: operations.length }
      : {}),
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
    was.title !== is.title ||
    was.instructions !== is.instructions ||
    was.expected_output !== is.expected_output ||
    was.depends_on.length !== is.depends_on.length ||
    was.depends_on.some((id, i) => id !== is.depends_on[i])
  );
}

function isMoved(was: StepRecord, is: StepRecord): boolean {
  return (
    was.position !== is.position ||
    was.status !== is.status ||
    was.open_dependencies !== is.open_dependencies
  );
}

// The end of a task: completed when no step is left to do, failed or cancelled at any time it runs. Its open
// steps end with it: their workers lose their claims.

export interface TaskCompletion {
  readonly task_id: string;
  readonly summary: string;
  readonly artifacts?: readonly string[] | undefined;
}

export interface TaskEnding {
  readonly task_id: string;
  readonly reason: string;
}

export function planComplete(
  draft: Draft,
  task: TaskRecord,
  { summary, artifacts = [] }: TaskCompletion,
): TaskRecord {
  if (isTaskEnded(task.status)) return refuseEnded(task);
  checkTaskTransition(task, "completed");
  const wrong =
    textProblem("summary", summary, TASK_LIMITS.summaryChars) ?? artifactsProblem(artifacts);
  if (wrong !== undefined) return refuse("invalid_plan", `Task ${task.task_id}: ${wrong}.`);
  const counts = toStepCounts(draft.found.counts);
  const open = STEP_STATUSES.filter((status) => !isStepOver(status) && counts[status] > 0);
  if (open.length > 0) {
    const list = open.map((status) => `${counts[status]} ${status}`).join(", ");
    return refuse(
      "steps_open",
      `Task ${task.task_id} still has steps to do: ${list}. It can be completed when every step is completed or cancelled; see task_query_steps.`,
      { counts },
    );
  }
  const done: TaskRecord = {
    ...task,
    status: "completed",
    result: { summary, artifacts },
    updated_at: draft.at,
    ended_at: draft.at,
  };
  draft.putTask(done);
  draft.addFact("task.completed", task, { summary: shortenForFact(summary), artifacts, counts });
  return done;
}

export function planEnd(
  draft: Draft,
  task: TaskRecord,
  status: "failed" | "cancelled",
  { reason }: TaskEnding,
): TaskRecord {
  if (isTaskEnded(task.status)) return refuseEnded(task);
  checkTaskTransition(task, status);
  const wrong = textProblem("reason", reason, TASK_LIMITS.reasonChars);
  if (wrong !== undefined) return refuse("invalid_plan", `Task ${task.task_id}: ${wrong}.`);
  const done: TaskRecord = { ...task, status, reason, updated_at: draft.at, ended_at: draft.at };
  draft.putTask(done);
  const taken: (PublicClaim & { step_id: string })[] = [];
  let steps = 0;
  for (const step of draft.steps()) {
    if (isStepOver(step.status) || step.status === "failed") continue;
    steps += 1;
    if (step.claim !== undefined) {
      taken.push({ step_id: step.step_id, ...describeClaim(step.claim) });
    }
    const why = `the task was ${status}`;
    draft.putStep({ ...withoutClaim(step), status: "cancelled", reason: why, ended_at: draft.at });
  }
  draft.addFact(`task.${status}`, task, {
    reason: shortenForFact(reason),
    steps_cancelled: steps,
    claims_ended: taken.slice(0, MAX_CLAIMS),
  });
  return done;
}

const MAX_CLAIMS = 50;
