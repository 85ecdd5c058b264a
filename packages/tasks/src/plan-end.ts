// The end of a task: completed when no step is left to do, failed or cancelled at any time it runs. Its open
// steps end with it: their workers lose their claims.

import { artifactsProblem, textProblem } from "./check-texts.ts";
import { describeClaim, shortenForFact, withoutClaim, type Draft } from "./draft.ts";
import { TASK_LIMITS } from "./limits.ts";
import { refuseEnded } from "./plan-update.ts";
import { isStepOver, isTaskEnded, STEP_STATUSES, type TaskRecord } from "./records.ts";
import { refuse, type Outcome } from "./refusal.ts";
import type { PublicClaim } from "./facts.ts";
import { toStepCounts } from "./stored-rows.ts";
import { checkTaskTransition } from "./transitions.ts";

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
): Outcome<TaskRecord> {
  if (isTaskEnded(task.status)) return refuseEnded(task);
  const checked = checkTaskTransition(task, "completed");
  if (!checked.ok) return checked;
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
  return { ok: true, value: done };
}

export function planEnd(
  draft: Draft,
  task: TaskRecord,
  status: "failed" | "cancelled",
  { reason }: TaskEnding,
): Outcome<TaskRecord> {
  if (isTaskEnded(task.status)) return refuseEnded(task);
  const checked = checkTaskTransition(task, status);
  if (!checked.ok) return checked;
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
  return { ok: true, value: done };
}

const MAX_CLAIMS = 50;
