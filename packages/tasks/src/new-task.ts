// A task as it is asked for, and the task it becomes. Statuses follow from the dependencies and cannot be set here.

import { omitUndefined, collapseSpace } from "@soong/schema";
import type { TaskActor } from "./actor.ts";
import {
  findPlanProblems,
  attemptsProblem,
  idListProblem,
  stepIdProblem,
  textProblem,
} from "./check-plan.ts";
import type { Draft } from "./draft.ts";
import { TASK_LIMITS, type StepRecord, type TaskRecord } from "./records.ts";
import { refuse } from "./refusal.ts";

export interface NewTask {
  readonly title: string;
  readonly goal: string;
  readonly steps: readonly NewStep[];
}

export interface NewStep {
  /** Default: `step_1`, `step_2` and so on, by its place. */
  readonly step_id?: string | undefined;
  readonly title: string;
  readonly instructions: string;
  readonly expected_output?: string | undefined;
  readonly depends_on?: readonly string[] | undefined;
  readonly max_attempts?: number | undefined;
}

export function planCreate(
  draft: Draft,
  actor: TaskActor,
  task_id: string,
  given: NewTask,
): TaskRecord {
  const { session_id, run_id, agent_id } = actor;
  if (draft.found.task !== undefined) return refuse("invalid_plan", `There is a task ${task_id}.`);
  const { tasksPerSession } = TASK_LIMITS;
  if ((draft.found.session_tasks ?? 0) >= tasksPerSession) {
    return refuse(
      "invalid_plan",
      `This session has ${tasksPerSession} tasks, which is as many as it may have. Add steps to one of them with task_update.`,
    );
  }
  const problems = taskTextProblems(given);
  const isList: boolean = Array.isArray(given.steps);
  if (!isList) problems.push("steps must be a list");
  else problems.push(...given.steps.flatMap((step, i) => newStepProblems(step, `steps[${i}]`)));
  if (problems.length > 0) return refusePlan(problems);
  const ids = assignStepIds(given.steps, new Set());
  const steps = given.steps.map((step, i) =>
    createStep(
      { ...step, step_id: ids[i] ?? "" },
      { task_id, position: i, at: draft.at, maxAttempts: draft.maxAttempts },
    ),
  );
  const wrong = findPlanProblems(steps);
  if (wrong.length > 0) return refusePlan(wrong);
  const task: TaskRecord = {
    task_id,
    session_id,
    title: collapseSpace(given.title),
    goal: given.goal,
    status: "pending",
    version: 1,
    created_by: { run_id, agent_id },
    created_at: draft.at,
    updated_at: draft.at,
  };
  draft.putTask(task);
  for (const step of steps) draft.putDefinedStep(step);
  draft.addFact("task.created", task, {
    title: task.title,
    version: task.version,
    steps: steps.length,
    ready: steps.filter(({ status }) => status === "ready").length,
  });
  return task;
}

export function taskTextProblems({ title, goal }: Pick<NewTask, "title" | "goal">): string[] {
  return [
    textProblem("title", title, TASK_LIMITS.titleChars),
    textProblem("goal", goal, TASK_LIMITS.goalChars),
  ].filter((problem) => problem !== undefined);
}

export function newStepProblems(step: NewStep, where: string): string[] {
  const { dependenciesPerStep, titleChars, instructionChars, expectedOutputChars } = TASK_LIMITS;
  if (typeof step !== "object" || step === null) return [`${where} must be an object`];
  const { step_id, title, instructions, expected_output, depends_on, max_attempts } = step;
  return [
    step_id === undefined ? undefined : stepIdProblem(step_id),
    textProblem("title", title, titleChars),
    textProblem("instructions", instructions, instructionChars),
    textProblem("expected_output", expected_output, expectedOutputChars, { required: false }),
    idListProblem("depends_on", depends_on, dependenciesPerStep),
    attemptsProblem(max_attempts),
  ].flatMap((problem) => (problem === undefined ? [] : [`${where}: ${problem}`]));
}

/** An id for each, their own or a new unique one. */
export function assignStepIds(steps: readonly NewStep[], taken: ReadonlySet<string>): string[] {
  const used = new Set([...taken, ...steps.flatMap(({ step_id }) => step_id ?? [])]);
  let next = taken.size;
  return steps.map(({ step_id }) => {
    next += 1;
    if (step_id !== undefined) return step_id;
    while (used.has(`step_${next}`)) next += 1;
    used.add(`step_${next}`);
    return `step_${next}`;
  });
}

/** Ready when it waits for nothing; otherwise its dependencies are counted where all steps are known. */
export function createStep(
  given: NewStep & { readonly step_id: string },
  place: {
    readonly task_id: string;
    readonly position: number;
    readonly at: string;
    readonly maxAttempts: number;
  },
): StepRecord {
  const { step_id, expected_output, depends_on = [], max_attempts = place.maxAttempts } = given;
  return {
    task_id: place.task_id,
    step_id,
    title: collapseSpace(given.title),
    instructions: given.instructions,
    ...omitUndefined({ expected_output }),
    depends_on: [...depends_on],
    position: place.position,
    status: depends_on.length === 0 ? "ready" : "pending",
    open_dependencies: depends_on.length,
    attempts: 0,
    max_attempts,
    updated_at: place.at,
  };
}

const MAX_PROBLEMS = 20;

export function refusePlan(problems: readonly string[]): never {
  const told = problems.slice(0, MAX_PROBLEMS).map((problem) => `- ${problem}`);
  const more = problems.length - told.length;
  const rest = more > 0 ? [`- and ${more} more`] : [];
  return refuse("invalid_plan", ["Nothing was changed, because:", ...told, ...rest].join("\n"), {
    problems: problems.slice(0, MAX_PROBLEMS),
  });
}
