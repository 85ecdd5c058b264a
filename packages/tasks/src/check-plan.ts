// Whether steps make a plan that can be carried out: ids that are there and unique, no circle, nothing that waits for
// what will never happen, all within bounds. Says everything that is wrong, a circle with its path.

import { TASK_LIMITS } from "./limits.ts";
import { isStepOver, type StepRecord } from "./records.ts";

type PlannedStep = Pick<StepRecord, "step_id" | "depends_on" | "status">;

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
      problems.push(`step ${step.step_id} depends on ${id}, which is not a step of this task`);
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

function renderCycle(cycle: readonly string[]): string {
  const more = cycle.length - SHOWN + 1;
  const shown =
    more <= 1 ? cycle : [...cycle.slice(0, SHOWN - 2), `… ${more} more …`, cycle[0] ?? ""];
  return shown.join(" → ");
}
