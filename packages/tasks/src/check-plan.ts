// Whether steps make a plan that can be carried out: ids that are there and unique, no circle, nothing that waits for
// what will never happen, all within bounds. Says everything that is wrong, a circle with its path.

import { TASK_LIMITS, type StepStatus, isStepOver } from "./records.ts";

interface PlannedStep {
  readonly step_id: string;
  readonly depends_on: readonly string[];
  readonly status: StepStatus;
}

export function findPlanProblems(steps: readonly PlannedStep[]): string[] {
  const problems = sizeProblems(steps);
  // Too much to look at closely is too much.
  if (problems.length > 0) return problems;
  const byId = new Map<string, PlannedStep>();
  for (const step of steps) {
    if (byId.has(step.step_id)) problems.push(`step ${step.step_id} is there twice`);
    byId.set(step.step_id, step);
  }
  for (const step of steps) problems.push(...dependencyProblems(step, byId));
  const cycle = findCycle(steps, byId);
  if (cycle !== undefined) problems.push(`these steps wait for each other: ${renderCycle(cycle)}`);
  return problems;
}

function sizeProblems(steps: readonly PlannedStep[]): string[] {
  const { steps: most, dependenciesPerStep, dependencies } = TASK_LIMITS;
  const problems: string[] = [];
  if (steps.length > most) {
    problems.push(`${steps.length} steps are more than the ${most} a task may have`);
  }
  let edges = 0;
  for (const { step_id, depends_on } of steps) {
    edges += depends_on.length;
    if (depends_on.length > dependenciesPerStep) {
      problems.push(
        `step ${step_id} depends on ${depends_on.length} steps; at most ${dependenciesPerStep}. Put a step in between that gathers them`,
      );
    }
  }
  if (edges > dependencies) {
    problems.push(`${edges} dependencies are more than the ${dependencies} a task may have`);
  }
  return problems;
}

function dependencyProblems(step: PlannedStep, byId: ReadonlyMap<string, PlannedStep>): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const id of step.depends_on) {
    const needed = byId.get(id);
    if (seen.has(id)) problems.push(`step ${step.step_id} names ${id} twice in depends_on`);
    else if (needed === undefined) {
      problems.push(`step ${step.step_id} depends on ${id}, which is no step of this task`);
    } else if (needed.status === "cancelled" && !isStepOver(step.status)) {
      problems.push(
        `step ${step.step_id} depends on ${id}, which is cancelled and will never be completed: remove that dependency, or cancel ${step.step_id} as well`,
      );
    }
    seen.add(id);
  }
  return problems;
}

/** The first one found, its first step again at the end. Without recursion: a chain may be thousands long. */
function findCycle(
  steps: readonly PlannedStep[],
  byId: ReadonlyMap<string, PlannedStep>,
): string[] | undefined {
  const done = new Set<string>();
  for (const { step_id } of steps) {
    if (done.has(step_id)) continue;
    const path: string[] = [step_id];
    const onPath = new Set(path);
    const left: string[][] = [[...(byId.get(step_id)?.depends_on ?? [])]];
    for (let open = left.at(-1); open !== undefined; open = left.at(-1)) {
      const next = open.pop();
      if (next === undefined) {
        left.pop();
        const last = path.pop() ?? "";
        onPath.delete(last);
        done.add(last);
      } else if (onPath.has(next)) {
        return [...path.slice(path.indexOf(next)), next];
      } else if (!done.has(next) && byId.has(next)) {
        path.push(next);
        onPath.add(next);
        left.push([...(byId.get(next)?.depends_on ?? [])]);
      }
    }
  }
  return undefined;
}

const SHOWN = 20;

function renderCycle(circle: readonly string[]): string {
  const [first = ""] = circle;
  if (circle.length <= SHOWN) return circle.join(" → ");
  return [...circle.slice(0, SHOWN - 2), `… ${circle.length - SHOWN + 1} more …`, first].join(
    " → ",
  );
}

// What a caller may write into a task, checked field by field. The tools' schemas say the same to a model; this also
// holds for code.

const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** Nothing, or what is wrong in one sentence. */
export function textProblem(
  field: string,
  value: unknown,
  maxChars: number,
  { required = true } = {},
): string | undefined {
  if (value === undefined && !required) return undefined;
  if (typeof value !== "string") return `${field} must be a text`;
  if (required && value.trim() === "") return `${field} is empty`;
  if (value.length > maxChars) {
    return `${field} has ${value.length} characters; at most ${maxChars}. Put the rest into an artifact or another step`;
  }
  return undefined;
}

export function stepIdProblem(value: unknown): string | undefined {
  const isFine =
    typeof value === "string" && value.length <= TASK_LIMITS.stepIdChars && STEP_ID.test(value);
  if (isFine) return undefined;
  const given = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
  return `${given} is no step_id: up to ${TASK_LIMITS.stepIdChars} letters, digits, "_", "-" and ".", beginning with a letter or digit`;
}

export function attemptsProblem(value: unknown): string | undefined {
  const isFine =
    value === undefined ||
    (Number.isInteger(value) &&
      (value as number) >= 1 &&
      (value as number) <= TASK_LIMITS.attempts);
  return isFine
    ? undefined
    : `max_attempts must be a whole number from 1 to ${TASK_LIMITS.attempts}`;
}

export function idListProblem(field: string, value: unknown, most: number): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return `${field} must be a list of ids`;
  if (value.length > most) return `${field} has ${value.length} entries; at most ${most}`;
  for (const id of value) {
    const problem = stepIdProblem(id);
    if (problem !== undefined) return `${field}: ${problem}`;
  }
  return undefined;
}

export function artifactsProblem(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const { artifacts, artifactIdChars } = TASK_LIMITS;
  if (!Array.isArray(value)) return "artifacts must be a list of artifact ids";
  if (value.length > artifacts)
    return `artifacts has ${value.length} entries; at most ${artifacts}`;
  const isFine = value.every(
    (id) => typeof id === "string" && id !== "" && id.length <= artifactIdChars,
  );
  return isFine ? undefined : `artifacts must hold ids of up to ${artifactIdChars} characters`;
}
