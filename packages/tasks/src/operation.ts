// The operations of a task update (TASK-3): what each needs, and what it is when it has that. They come flat, as one
// object with an `op`, because that is what every model provider can be given a schema for.

import type { FactContent } from "@soong/core";
import { omitUndefined, collapseSpace } from "@soong/schema";
import { attemptsProblem, idListProblem, stepIdProblem, textProblem } from "./check-plan.ts";
import { TASK_LIMITS, type StepRecord, type StepStatus, type TaskRecord } from "./records.ts";
import { newStepProblems, type NewStep, assignStepIds, createStep } from "./new-task.ts";
import { describeClaim, withoutClaim } from "./draft.ts";
import { checkRequest, checkTaskTransition } from "./transitions.ts";
import { TaskRefused } from "./refusal.ts";

export type TaskOperation =
  | { readonly op: "set_title"; readonly title: string }
  | { readonly op: "set_goal"; readonly goal: string }
  | ({ readonly op: "add_step"; readonly before?: string | undefined } & NewStep)
  | ({ readonly op: "update_step"; readonly step_id: string } & StepEdit)
  | { readonly op: "remove_step"; readonly step_id: string }
  | {
      readonly op: "add_dependency" | "remove_dependency";
      readonly step_id: string;
      readonly depends_on: readonly string[];
    }
  /** The steps named take the places they have now, in this order. */
  | { readonly op: "reorder"; readonly step_ids: readonly string[] }
  | { readonly op: "cancel_step"; readonly step_id: string; readonly reason: string }
  | { readonly op: "retry_step" | "unblock_step"; readonly step_id: string }
  | { readonly op: "block_task"; readonly reason: string }
  | { readonly op: "unblock_task" };

/** As it is given: which fields an operation has is checked when it is planned. */
export interface GivenOperation extends Partial<NewStep> {
  readonly op: TaskOperation["op"];
  readonly goal?: string | undefined;
  readonly reason?: string | undefined;
  readonly before?: string | undefined;
  readonly step_ids?: readonly string[] | undefined;
}

interface StepEdit {
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
  readonly expected_output?: string | undefined;
  readonly max_attempts?: number | undefined;
}

/** Fields by operation, and those it cannot do without. */
const FIELDS = {
  set_title: { needs: ["title"], takes: [] },
  set_goal: { needs: ["goal"], takes: [] },
  add_step: {
    needs: ["title", "instructions"],
    takes: ["step_id", "expected_output", "depends_on", "max_attempts", "before"],
  },
  update_step: {
    needs: ["step_id"],
    takes: ["title", "instructions", "expected_output", "max_attempts"],
  },
  remove_step: { needs: ["step_id"], takes: [] },
  add_dependency: { needs: ["step_id", "depends_on"], takes: [] },
  remove_dependency: { needs: ["step_id", "depends_on"], takes: [] },
  reorder: { needs: ["step_ids"], takes: [] },
  cancel_step: { needs: ["step_id", "reason"], takes: [] },
  retry_step: { needs: ["step_id"], takes: [] },
  unblock_step: { needs: ["step_id"], takes: [] },
  block_task: { needs: ["reason"], takes: [] },
  unblock_task: { needs: [], takes: [] },
} as const satisfies Record<
  TaskOperation["op"],
  { needs: readonly string[]; takes: readonly string[] }
>;

export const OPERATIONS = Object.keys(FIELDS) as readonly TaskOperation["op"][];

/** What is wrong with it, regardless of the task. */
export function operationProblems(given: unknown, where: string): string[] {
  if (typeof given !== "object" || given === null) return [`${where} must be an object`];
  const { op, ...fields } = given as { op?: unknown } & Record<string, unknown>;
  if (!isOperation(op)) {
    return [`${where}: op must be one of ${OPERATIONS.join(", ")}`];
  }
  const { needs, takes }: { needs: readonly string[]; takes: readonly string[] } = FIELDS[op];
  const there = Object.keys(fields).filter((field) => fields[field] !== undefined);
  const missing = needs.filter((field) => !there.includes(field));
  const foreign = there.filter((field) => !needs.includes(field) && !takes.includes(field));
  const problems = [
    ...missing.map((field) => `${op} needs ${field}`),
    ...foreign.map((field) => `${op} takes no ${field}`),
  ];
  if (op === "update_step" && there.length === 1) problems.push("update_step changes nothing");
  if (problems.length > 0) return problems.map((problem) => `${where}: ${problem}`);
  return op === "add_step"
    ? [
        ...newStepProblems(given as NewStep, where),
        ...fieldProblems({ before: fields["before"] }, where),
      ]
    : fieldProblems(fields, where);
}

function fieldProblems(fields: Record<string, unknown>, where: string): string[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const problem = value === undefined ? undefined : CHECKS[field]?.(value);
    return problem === undefined ? [] : [`${where}: ${problem}`];
  });
}

const CHECKS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  title: (value) => textProblem("title", value, TASK_LIMITS.titleChars),
  goal: (value) => textProblem("goal", value, TASK_LIMITS.goalChars),
  instructions: (value) => textProblem("instructions", value, TASK_LIMITS.instructionChars),
  expected_output: (value) =>
    textProblem("expected_output", value, TASK_LIMITS.expectedOutputChars),
  reason: (value) => textProblem("reason", value, TASK_LIMITS.reasonChars),
  max_attempts: attemptsProblem,
  step_id: stepIdProblem,
  before: stepIdProblem,
  depends_on: (value) => idListProblem("depends_on", value, TASK_LIMITS.dependenciesPerStep),
  step_ids: (value) => idListProblem("step_ids", value, TASK_LIMITS.steps),
};

function isOperation(op: unknown): op is TaskOperation["op"] {
  return typeof op === "string" && Object.hasOwn(FIELDS, op);
}

// One operation on the copy of a task (TASK-3). A claimed step keeps its text and dependencies.

/** The copy: what the operations work on. */
export interface TaskCopy {
  task: TaskRecord;
  /** By position. */
  steps: StepRecord[];
  /** Ids of steps that are new, also under the name of one that was removed. */
  readonly added: Set<string>;
  readonly at: string;
  readonly maxAttempts: number;
  readonly problems: string[];
  readonly facts: FactContent<
    "task.step.cancelled" | "task.step.retried" | "task.step.unblocked"
  >[];
}

export function applyOperation(copy: TaskCopy, operation: TaskOperation, where: string): void {
  let problem: string | undefined;
  try {
    problem = runOperation(copy, operation);
  } catch (error) {
    if (!(error instanceof TaskRefused)) throw error;
    problem = error.message;
  }
  if (problem !== undefined) copy.problems.push(`${where} (${operation.op}): ${problem}`);
}

/** Nothing, or why not. */
function runOperation(copy: TaskCopy, operation: TaskOperation): string | undefined {
  switch (operation.op) {
    case "set_title":
      copy.task = { ...copy.task, title: collapseSpace(operation.title) };
      return undefined;
    case "set_goal":
      copy.task = { ...copy.task, goal: operation.goal };
      return undefined;
    case "block_task":
    case "unblock_task":
      return blockTask(copy, operation);
    case "add_step":
      return addStep(copy, operation);
    case "reorder":
      return reorder(copy, operation.step_ids);
    case "update_step":
    case "remove_step":
    case "add_dependency":
    case "remove_dependency":
    case "cancel_step":
    case "retry_step":
    case "unblock_step":
      return applyToStep(copy, operation);
  }
}

function blockTask(
  copy: TaskCopy,
  operation: Extract<TaskOperation, { op: "block_task" | "unblock_task" }>,
): string | undefined {
  const to = operation.op === "block_task" ? "blocked" : "pending";
  checkTaskTransition(copy.task, to);
  const { reason: _reason, ...rest } = copy.task;
  copy.task = {
    ...rest,
    status: to,
    ...(operation.op === "block_task" ? { reason: operation.reason } : {}),
  };
  return undefined;
}

function addStep(
  copy: TaskCopy,
  { before, ...given }: Extract<TaskOperation, { op: "add_step" }>,
): string | undefined {
  const taken = new Set(copy.steps.map(({ step_id }) => step_id));
  const [step_id = ""] = assignStepIds([given], taken);
  if (taken.has(step_id)) return `there is a step ${step_id} already`;
  const place = before === undefined ? copy.steps.length : findStepIndex(copy, before);
  if (place === -1) return describeUnknownStep(copy, before ?? "");
  const { task_id } = copy.task;
  copy.added.add(step_id);
  copy.steps = copy.steps.toSpliced(
    place,
    0,
    createStep(
      { ...given, step_id },
      { task_id, position: place, at: copy.at, maxAttempts: copy.maxAttempts },
    ),
  );
  return undefined;
}

function reorder(copy: TaskCopy, step_ids: readonly string[]): string | undefined {
  const missing = step_ids.find((step_id) => findStepIndex(copy, step_id) === -1);
  if (missing !== undefined) return describeUnknownStep(copy, missing);
  if (new Set(step_ids).size < step_ids.length) return "step_ids names a step twice";
  const places = step_ids.map((step_id) => findStepIndex(copy, step_id)).toSorted((a, b) => a - b);
  const next = [...copy.steps];
  for (const [i, place] of places.entries()) {
    const step = copy.steps.find(({ step_id }) => step_id === step_ids[i]);
    if (step !== undefined) next[place] = step;
  }
  copy.steps = next;
  return undefined;
}

type StepOperation = Extract<TaskOperation, { step_id: string }> & {
  op: Exclude<TaskOperation["op"], "add_step">;
};

function applyToStep(copy: TaskCopy, operation: StepOperation): string | undefined {
  const at = findStepIndex(copy, operation.step_id);
  const step = copy.steps[at];
  if (step === undefined) return describeUnknownStep(copy, operation.step_id);
  const next = changeStep(copy, step, operation);
  if (typeof next === "string") return next;
  copy.steps = next === undefined ? copy.steps.toSpliced(at, 1) : copy.steps.with(at, next);
  return undefined;
}

/** The step as it becomes; undefined when it goes; or why not, in words. */
function changeStep(
  copy: TaskCopy,
  step: StepRecord,
  operation: StepOperation,
): StepRecord | undefined | string {
  switch (operation.op) {
    case "update_step":
      return editStep(step, operation);
    case "remove_step":
      return checkEditable(step, "be removed") ?? undefined;
    case "add_dependency":
      return (
        checkEditable(step, "get other dependencies") ?? {
          ...step,
          depends_on: [...step.depends_on, ...operation.depends_on],
        }
      );
    case "remove_dependency": {
      const missing = operation.depends_on.find((id) => !step.depends_on.includes(id));
      if (missing !== undefined) return `step ${step.step_id} does not depend on ${missing}`;
      const depends_on = step.depends_on.filter((id) => !operation.depends_on.includes(id));
      return checkEditable(step, "get other dependencies") ?? { ...step, depends_on };
    }
    case "cancel_step":
      return cancelStep(copy, step, operation.reason);
    case "retry_step":
      return reopenStep(copy, step, "failed");
    case "unblock_step":
      return reopenStep(copy, step, "blocked");
  }
}

/** A worker reads its step when it claims it: what it read must stay true until it is done. */
function checkEditable({ step_id, status, claim }: StepRecord, what: string): string | undefined {
  if (status === "claimed" || status === "running") {
    const by = claim === undefined ? "" : ` by run ${claim.run_id}`;
    return `step ${step_id} is ${status}${by} and cannot ${what}: wait for its end, or cancel_step it and add another`;
  }
  if (status === "completed") return `step ${step_id} is completed and cannot ${what}`;
  return undefined;
}

function editStep(step: StepRecord, edit: StepEdit): StepRecord | string {
  const { title, instructions, expected_output, max_attempts } = edit;
  const isText = title !== undefined || instructions !== undefined || expected_output !== undefined;
  const problem = isText ? checkEditable(step, "be given another text") : undefined;
  if (problem !== undefined) return problem;
  if (max_attempts !== undefined && max_attempts < step.attempts) {
    return `step ${step.step_id} has had ${step.attempts} attempts; max_attempts cannot be below that`;
  }
  return {
    ...step,
    ...(title === undefined ? {} : { title: collapseSpace(title) }),
    ...omitUndefined({ instructions, expected_output, max_attempts }),
  };
}

function cancelStep(copy: TaskCopy, step: StepRecord, reason: string): StepRecord | string {
  checkRequest("orchestrator", step, "cancelled");
  const claim = step.claim === undefined ? {} : { claim: describeClaim(step.claim) };
  copy.facts.push({ type: "task.step.cancelled", data: { ...stepIds(step), reason, ...claim } });
  return { ...withoutClaim(step), status: "cancelled", reason, ended_at: copy.at };
}

function reopenStep(
  copy: TaskCopy,
  step: StepRecord,
  from: Extract<StepStatus, "failed" | "blocked">,
): StepRecord | string {
  if (step.status !== from) {
    const undo = from === "failed" ? "tried again" : "unblocked";
    return `step ${step.step_id} is ${step.status}; only a ${from} step can be ${undo}`;
  }
  const problem = checkAttemptsLeft(step);
  if (problem !== undefined) return problem;
  const type = from === "failed" ? "task.step.retried" : "task.step.unblocked";
  const { attempts, max_attempts } = step;
  copy.facts.push({ type, data: { ...stepIds(step), attempts, max_attempts } });
  return resetStep(step);
}

function stepIds({ task_id, step_id }: StepRecord): Pick<StepRecord, "task_id" | "step_id"> {
  return { task_id, step_id };
}

/** As pending as its dependencies make it. */
export function resetStep(step: StepRecord): StepRecord {
  const { reason: _reason, ended_at: _ended, ...rest } = step;
  return { ...rest, status: step.open_dependencies === 0 ? "ready" : "pending" };
}

export function checkAttemptsLeft({
  step_id,
  attempts,
  max_attempts,
}: StepRecord): string | undefined {
  return attempts < max_attempts
    ? undefined
    : `step ${step_id} has had ${attempts} of ${max_attempts} attempts: give it a higher max_attempts with update_step first, or cancel it`;
}

function findStepIndex({ steps }: TaskCopy, step_id: string): number {
  return steps.findIndex((step) => step.step_id === step_id);
}

function describeUnknownStep({ steps, task }: TaskCopy, step_id: string): string {
  const some = steps.slice(0, 20).map((step) => step.step_id);
  const more = steps.length > some.length ? ` and ${steps.length - some.length} more` : "";
  const known = some.length === 0 ? "it has none" : `it has ${some.join(", ")}${more}`;
  return `${step_id} is no step of task ${task.task_id}; ${known}`;
}
