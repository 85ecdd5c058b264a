// The operations of a task update (TASK-3): what each needs, and what it does to the copy of a task. They come flat, as
// one object with an `op`, because that is what every model provider can be given a schema for. A claimed step keeps its
// text and dependencies.

import type { FactContent } from "@soong/core";
import { collapseSpace, omitUndefined } from "@soong/schema";
import { readClaim, withoutClaim } from "./draft.ts";
import {
  attemptsProblem,
  idListProblem,
  stepIdProblem,
  TASK_LIMITS,
  textProblem,
} from "./limits.ts";
import { assignStepIds, createStep, newStepProblems, type NewStep } from "./plan-task.ts";
import type { StepRecord, TaskRecord } from "./records.ts";
import { refuse, TaskRefused } from "./refusal.ts";
import { requireRequestable, requireTaskTransition } from "./transitions.ts";

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

type StepEdit = Partial<
  Pick<NewStep, "title" | "instructions" | "expected_output" | "max_attempts">
>;

/** As it is given: which fields an operation has is checked when it is planned. */
export interface GivenOperation extends Partial<NewStep> {
  readonly op: TaskOperation["op"];
  readonly goal?: string | undefined;
  readonly reason?: string | undefined;
  readonly before?: string | undefined;
  readonly step_ids?: readonly string[] | undefined;
}

/** The copy: what the operations work on. */
export interface TaskCopy {
  task: TaskRecord;
  /** By position. */
  steps: StepRecord[];
  /** Ids of steps that are new, also under the name of one that was removed. */
  readonly added: Set<string>;
  readonly at: string;
  readonly maxAttempts: number;
  readonly facts: FactContent<
    "task.step.cancelled" | "task.step.retried" | "task.step.unblocked"
  >[];
}

type Operations = {
  readonly [Op in TaskOperation["op"]]: {
    /** Fields it cannot do without. */
    readonly needs: readonly string[];
    readonly takes?: readonly string[];
    /** Throws a refusal whose message says why not. */
    apply(copy: TaskCopy, operation: TaskOperation & { readonly op: Op }): void;
  };
};

const BY_NAME: Operations = {
  set_title: {
    needs: ["title"],
    apply(copy, { title }) {
      copy.task = { ...copy.task, title: collapseSpace(title) };
    },
  },
  set_goal: {
    needs: ["goal"],
    apply(copy, { goal }) {
      copy.task = { ...copy.task, goal };
    },
  },
  add_step: {
    needs: ["title", "instructions"],
    takes: ["step_id", "expected_output", "depends_on", "max_attempts", "before"],
    apply: addStep,
  },
  update_step: {
    needs: ["step_id"],
    takes: ["title", "instructions", "expected_output", "max_attempts"],
    apply: (copy, edit) => replaceStep(copy, edit.step_id, (step) => editStep(step, edit)),
  },
  remove_step: {
    needs: ["step_id"],
    apply: (copy, { step_id }) =>
      replaceStep(copy, step_id, (step) => requireEditable(step, "be removed")),
  },
  add_dependency: {
    needs: ["step_id", "depends_on"],
    apply: (copy, { step_id, depends_on }) =>
      replaceStep(copy, step_id, (step) => {
        requireEditable(step, "get other dependencies");
        return { ...step, depends_on: [...step.depends_on, ...depends_on] };
      }),
  },
  remove_dependency: {
    needs: ["step_id", "depends_on"],
    apply: (copy, { step_id, depends_on }) =>
      replaceStep(copy, step_id, (step) => {
        const missing = depends_on.find((id) => !step.depends_on.includes(id));
        if (missing !== undefined) throw invalid(`step ${step_id} does not depend on ${missing}`);
        requireEditable(step, "get other dependencies");
        return { ...step, depends_on: step.depends_on.filter((id) => !depends_on.includes(id)) };
      }),
  },
  reorder: { needs: ["step_ids"], apply: reorder },
  cancel_step: {
    needs: ["step_id", "reason"],
    apply: (copy, { step_id, reason }) =>
      replaceStep(copy, step_id, (step) => {
        requireRequestable("orchestrator", step, "cancelled");
        const data = { task_id: step.task_id, step_id, reason, ...readClaim(step) };
        copy.facts.push({ type: "task.step.cancelled", data });
        return { ...withoutClaim(step), status: "cancelled", reason, ended_at: copy.at };
      }),
  },
  retry_step: { needs: ["step_id"], apply: reopenStep },
  unblock_step: { needs: ["step_id"], apply: reopenStep },
  block_task: {
    needs: ["reason"],
    apply(copy, { reason }) {
      requireTaskTransition(copy.task, "blocked");
      copy.task = { ...copy.task, status: "blocked", reason };
    },
  },
  unblock_task: {
    needs: [],
    apply(copy) {
      requireTaskTransition(copy.task, "pending");
      const { reason: _reason, ...rest } = copy.task;
      copy.task = { ...rest, status: "pending" };
    },
  },
};

export const OPERATIONS = Object.keys(BY_NAME) as readonly TaskOperation["op"][];

/** Nothing, or why not. */
export function applyOperation<Op extends TaskOperation["op"]>(
  copy: TaskCopy,
  operation: TaskOperation & { readonly op: Op },
): string | undefined {
  const known: Operations[Op] = BY_NAME[operation.op];
  try {
    known.apply(copy, operation);
    return undefined;
  } catch (error) {
    if (error instanceof TaskRefused) return error.message;
    throw error;
  }
}

/** What is wrong with it, regardless of the task. */
export function operationProblems(given: unknown, where: string): string[] {
  if (typeof given !== "object" || given === null) return [`${where} must be an object`];
  const { op, ...fields } = given as { op?: unknown } & Record<string, unknown>;
  if (typeof op !== "string" || !Object.hasOwn(BY_NAME, op)) {
    return [`${where}: op must be one of ${OPERATIONS.join(", ")}`];
  }
  const { needs, takes = [] } = BY_NAME[op as TaskOperation["op"]];
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

function addStep(
  copy: TaskCopy,
  { before, ...given }: TaskOperation & { readonly op: "add_step" },
): void {
  const taken = new Set(copy.steps.map(({ step_id }) => step_id));
  const [step_id = ""] = assignStepIds([given], taken);
  if (taken.has(step_id)) throw invalid(`there is a step ${step_id} already`);
  const position = before === undefined ? copy.steps.length : findStepIndex(copy, before);
  const { task_id } = copy.task;
  const { at, maxAttempts } = copy;
  copy.added.add(step_id);
  const step = createStep({ ...given, step_id }, { task_id, position, at, maxAttempts });
  copy.steps = copy.steps.toSpliced(position, 0, step);
}

function reorder(copy: TaskCopy, { step_ids }: { readonly step_ids: readonly string[] }): void {
  const from = step_ids.map((step_id) => findStepIndex(copy, step_id));
  if (new Set(step_ids).size < step_ids.length) throw invalid("step_ids names a step twice");
  const next = [...copy.steps];
  for (const [i, place] of from.toSorted((a, b) => a - b).entries()) {
    const step = copy.steps[from[i] ?? -1];
    if (step !== undefined) next[place] = step;
  }
  copy.steps = next;
}

/** By the step it becomes, or nothing when it goes. */
function replaceStep(
  copy: TaskCopy,
  step_id: string,
  change: (step: StepRecord) => StepRecord | void,
): void {
  const at = findStepIndex(copy, step_id);
  const next = change(copy.steps[at] as StepRecord);
  copy.steps = next === undefined ? copy.steps.toSpliced(at, 1) : copy.steps.with(at, next);
}

/** A worker reads its step when it claims it: what it read must stay true until it is done. */
function requireEditable({ step_id, status, claim }: StepRecord, what: string): void {
  if (status === "claimed" || status === "running") {
    const by = claim === undefined ? "" : ` by run ${claim.run_id}`;
    throw invalid(
      `step ${step_id} is ${status}${by} and cannot ${what}: wait for its end, or cancel_step it and add another`,
    );
  }
  if (status === "completed") throw invalid(`step ${step_id} is completed and cannot ${what}`);
}

function editStep(step: StepRecord, edit: StepEdit): StepRecord {
  const { title, instructions, expected_output, max_attempts } = edit;
  const isText = title !== undefined || instructions !== undefined || expected_output !== undefined;
  if (isText) requireEditable(step, "be given another text");
  if (max_attempts !== undefined && max_attempts < step.attempts) {
    throw invalid(
      `step ${step.step_id} has had ${step.attempts} attempts; max_attempts cannot be below that`,
    );
  }
  return {
    ...step,
    ...(title !== undefined && { title: collapseSpace(title) }),
    ...omitUndefined({ instructions, expected_output, max_attempts }),
  };
}

function reopenStep(
  copy: TaskCopy,
  { op, step_id }: { readonly op: "retry_step" | "unblock_step"; readonly step_id: string },
): void {
  const [from, undo, type] =
    op === "retry_step"
      ? (["failed", "tried again", "task.step.retried"] as const)
      : (["blocked", "unblocked", "task.step.unblocked"] as const);
  replaceStep(copy, step_id, (step) => {
    const { task_id, status, attempts, max_attempts } = step;
    if (status !== from) {
      throw invalid(`step ${step_id} is ${status}; only a ${from} step can be ${undo}`);
    }
    const problem = attemptsLeftProblem(step);
    if (problem !== undefined) throw invalid(problem);
    copy.facts.push({ type, data: { task_id, step_id, attempts, max_attempts } });
    return resetStep(step);
  });
}

/** As pending as its dependencies make it. */
export function resetStep(step: StepRecord): StepRecord {
  const { reason: _reason, ended_at: _ended, ...rest } = step;
  return { ...rest, status: step.open_dependencies === 0 ? "ready" : "pending" };
}

export function attemptsLeftProblem(step: StepRecord): string | undefined {
  const { step_id, attempts, max_attempts } = step;
  return attempts < max_attempts
    ? undefined
    : `step ${step_id} has had ${attempts} of ${max_attempts} attempts: give it a higher max_attempts with update_step first, or cancel it`;
}

function findStepIndex({ steps, task }: TaskCopy, step_id: string): number {
  const at = steps.findIndex((step) => step.step_id === step_id);
  if (at !== -1) return at;
  const some = steps.slice(0, 20).map((step) => step.step_id);
  const more = steps.length > some.length ? ` and ${steps.length - some.length} more` : "";
  const known = some.length === 0 ? "it has none" : `it has ${some.join(", ")}${more}`;
  throw invalid(`${step_id} is not a step of task ${task.task_id}; ${known}`);
}

function invalid(message: string): TaskRefused {
  return refuse("invalid_plan", message);
}
