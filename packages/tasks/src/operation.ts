// The operations of a task update (TASK-3): what each needs, and what it is when it has that. They come flat, as one
// object with an `op`, because that is what every model provider can be given a schema for.

import { attemptsProblem, idListProblem, stepIdProblem, textProblem } from "./check-texts.ts";
import { TASK_LIMITS } from "./limits.ts";
import { newStepProblems, type NewStep } from "./new-task.ts";

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

export interface StepEdit {
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
