// A task as it is asked for, and the task it becomes: statuses follow from the dependencies and cannot be set here. And
// its end: completed when no step is left to do, failed or cancelled at any time it runs. Its open steps end with it:
// their workers lose their claims.

import { omitUndefined, collapseSpace } from "@soong/schema";
import type { TaskActor } from "./actor.ts";
import { findPlanProblems } from "./check-plan.ts";
import { describeClaim, shortenForFact, toStepCounts, withoutClaim, type Draft } from "./draft.ts";
import type { PublicClaim } from "./facts.ts";
import {
  artifactsProblem,
  attemptsProblem,
  idListProblem,
  stepIdProblem,
  TASK_LIMITS,
  textProblem,
} from "./limits.ts";
import {
  isStepOver,
  isTaskEnded,
  STEP_STATUSES,
  type StepRecord,
  type TaskRecord,
} from "./records.ts";
import { refuse } from "./refusal.ts";
import { requireTaskTransition } from "./transitions.ts";

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

export function planCreate(draft: Draft, actor: TaskActor, task_id: string, given: NewTask): void {
  const { session_id, run_id, agent_id } = actor;
  if (draft.found.task !== undefined) throw refuse("invalid_plan", `There is a task ${task_id}.`);
  const { tasksPerSession } = TASK_LIMITS;
  if ((draft.found.session_tasks ?? 0) >= tasksPerSession) {
    throw refuse(
      "invalid_plan",
      `This session has ${tasksPerSession} tasks, which is as many as it may have. Add steps to one of them with task_update.`,
    );
  }
  const isList: boolean = Array.isArray(given.steps);
  requireNone([
    ...[
      textProblem("title", given.title, TASK_LIMITS.titleChars),
      textProblem("goal", given.goal, TASK_LIMITS.goalChars),
      isList ? undefined : "steps must be a list",
    ].filter((problem) => problem !== undefined),
    ...(isList ? given.steps.flatMap((step, i) => newStepProblems(step, `steps[${i}]`)) : []),
  ]);
  const ids = assignStepIds(given.steps, new Set());
  const { at, maxAttempts } = draft;
  const steps = given.steps.map((step, position) =>
    createStep({ ...step, step_id: ids[position] ?? "" }, { task_id, position, at, maxAttempts }),
  );
  requireNone(findPlanProblems(steps));
  const task: TaskRecord = {
    task_id,
    session_id,
    title: collapseSpace(given.title),
    goal: given.goal,
    status: "pending",
    version: 1,
    created_by: { run_id, agent_id },
    created_at: at,
    updated_at: at,
  };
  draft.putTask(task);
  for (const step of steps) draft.putDefinedStep(step);
  draft.addFact("task.created", task, {
    title: task.title,
    version: task.version,
    steps: steps.length,
    ready: steps.filter(({ status }) => status === "ready").length,
  });
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

export function requireNone(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const listed = problems.slice(0, MAX_PROBLEMS);
  const more = problems.length - listed.length;
  const lines = [...listed, ...(more > 0 ? [`and ${more} more`] : [])];
  const message = ["Nothing was changed, because:", ...lines.map((line) => `- ${line}`)].join("\n");
  throw refuse("invalid_plan", message, { problems: listed });
}

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
  requireEndable(
    task,
    "completed",
    () => textProblem("summary", summary, TASK_LIMITS.summaryChars) ?? artifactsProblem(artifacts),
  );
  const counts = toStepCounts(draft.found.counts);
  const open = STEP_STATUSES.filter((status) => !isStepOver(status) && counts[status] > 0);
  if (open.length > 0) {
    const list = open.map((status) => `${counts[status]} ${status}`).join(", ");
    throw refuse(
      "steps_open",
      `Task ${task.task_id} still has steps to do: ${list}. It can be completed when every step is completed or cancelled; see task_query_steps.`,
      { counts },
    );
  }
  draft.addFact("task.completed", task, { summary: shortenForFact(summary), artifacts, counts });
  return endTask(draft, { ...task, status: "completed", result: { summary, artifacts } });
}

export function planEnd(
  draft: Draft,
  task: TaskRecord,
  status: "failed" | "cancelled",
  { reason }: TaskEnding,
): TaskRecord {
  requireEndable(task, status, () => textProblem("reason", reason, TASK_LIMITS.reasonChars));
  const taken: (PublicClaim & { step_id: string })[] = [];
  let steps_cancelled = 0;
  for (const step of draft.steps()) {
    if (isStepOver(step.status) || step.status === "failed") continue;
    steps_cancelled += 1;
    if (step.claim !== undefined) {
      taken.push({ step_id: step.step_id, ...describeClaim(step.claim) });
    }
    const why = `the task was ${status}`;
    draft.putStep({ ...withoutClaim(step), status: "cancelled", reason: why, ended_at: draft.at });
  }
  draft.addFact(`task.${status}`, task, {
    reason: shortenForFact(reason),
    steps_cancelled,
    claims_ended: taken.slice(0, MAX_CLAIMS),
  });
  return endTask(draft, { ...task, status, reason });
}

const MAX_CLAIMS = 50;

function requireEndable(
  task: TaskRecord,
  status: TaskRecord["status"],
  findProblem: () => string | undefined,
): void {
  requireOpen(task);
  requireTaskTransition(task, status);
  const wrong = findProblem();
  if (wrong !== undefined) throw refuse("invalid_plan", `Task ${task.task_id}: ${wrong}.`);
}

function endTask(draft: Draft, task: TaskRecord): TaskRecord {
  const ended = { ...task, updated_at: draft.at, ended_at: draft.at };
  draft.putTask(ended);
  return ended;
}

export function requireOpen(task: TaskRecord): void {
  if (!isTaskEnded(task.status)) return;
  throw refuse(
    "task_ended",
    `Task ${task.task_id} is ${task.status}, and nothing follows that. Create another task for what is left to do.`,
    { status: task.status },
  );
}
