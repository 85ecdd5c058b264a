// How the holder of a step, or the orchestrator, updates it (TASK-2, TASK-5). Only the claim the
// step has now counts: what comes under an older one is refused, also from the same run (TASK-4).

import type { FactData } from "@soong/core";
import type { TaskActor } from "./actor.ts";
import { readClaim, shortenForFact, withoutClaim, type Draft } from "./draft.ts";
import { artifactsProblem, TASK_LIMITS, textProblem } from "./limits.ts";
import { attemptsLeftProblem, resetStep } from "./operation.ts";
import { addEarlierAttempt, endClaim, expireLeases, startStep } from "./claims.ts";
import { requireOpen } from "./plan-task.ts";
import { isStepOver, type StepRecord, type TaskRecord } from "./records.ts";
import { refuse } from "./refusal.ts";
import { requireRequestable, type RequestedStatus } from "./transitions.ts";

export interface StepUpdate {
  readonly task_id: string;
  readonly step_id: string;
  /** Of the claim, for a worker; the orchestrator needs none. */
  readonly token?: string | undefined;
  /** Default: only the note changes. */
  readonly status?: RequestedStatus | undefined;
  /** What came of it; a completed step has one. */
  readonly summary?: string | undefined;
  readonly artifacts?: readonly string[] | undefined;
  /** Why it failed, is blocked or is cancelled. */
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
}

export function planStepUpdate(
  draft: Draft,
  task: TaskRecord,
  actor: TaskActor,
  update: StepUpdate,
): StepRecord {
  expireLeases(draft);
  const { step_id, status, note } = update;
  const step = draft.step(step_id);
  if (step === undefined) {
    throw refuse("step_unknown", `${step_id} is not a step of task ${task.task_id}.`);
  }
  const who = actor.kind === "orchestrator" ? "orchestrator" : "worker";
  if (who === "worker") requireClaim(step, actor, update);
  requireOpen(task);
  const wrong = stepUpdateProblem(update);
  if (wrong !== undefined) throw refuse("invalid_plan", `Step ${step_id}: ${wrong}.`);
  if (status !== undefined) {
    requireRequestable(who, step, status);
    moveStep(draft, step, status, update, actor);
  }
  const moved = draft.step(step_id) ?? step;
  return note === undefined ? moved : draft.putStep({ ...moved, note });
}

/** The holder of a claim has its token; others receive the reason why they have none. */
function requireClaim(step: StepRecord, actor: TaskActor, update: StepUpdate): void {
  const { claim, step_id, status, last_run_id } = step;
  if (claim?.run_id === actor.run_id && claim.token === update.token) return;
  const wasHeld =
    update.token !== undefined || last_run_id === actor.run_id || claim?.run_id === actor.run_id;
  if (!wasHeld) {
    throw refuse(
      "not_allowed",
      `This run has not claimed step ${step_id}, which is ${status}. A worker updates only the step it has claimed with task_claim_step.`,
    );
  }
  const now =
    claim === undefined || claim.run_id === actor.run_id
      ? `The step is ${status} now`
      : `The step is ${status} by run ${claim.run_id} now`;
  throw refuse(
    "claim_lost",
    `This claim on step ${step_id} has ended: it was finished, its lease ran out, or it was taken away. ${now}; this update was not recorded. Stop working on it; claim a ready step if there is more to do.`,
    { status },
  );
}

function stepUpdateProblem(update: StepUpdate): string | undefined {
  const { status, summary, artifacts, reason, note } = update;
  if (status === undefined && note === undefined) return "give a status, a note, or both";
  const { summaryChars, reasonChars, noteChars } = TASK_LIMITS;
  const needsReason = status === "failed" || status === "blocked" || status === "cancelled";
  return (
    textProblem("summary", summary, summaryChars, { required: status === "completed" }) ??
    textProblem("reason", reason, reasonChars, { required: needsReason }) ??
    textProblem("note", note, noteChars, { required: false }) ??
    artifactsProblem(artifacts)
  );
}

/** The fact of a step whose worker was killed before it recorded the completion: the dispatching run records it. */
export function toCompletionFact(step: StepRecord): FactData<"task.step.completed"> {
  const { task_id, step_id, attempts: attempt, result } = step;
  const { summary = "", artifacts = [] } = result ?? {};
  return { task_id, step_id, attempt, summary: shortenForFact(summary), artifacts };
}

function moveStep(
  draft: Draft,
  step: StepRecord,
  to: RequestedStatus,
  { summary = "", artifacts = [], reason = "" }: StepUpdate,
  actor: TaskActor,
): void {
  const { attempts: attempt, max_attempts } = step;
  const { at } = draft;
  const by = readClaim(step);
  const short = shortenForFact(reason);
  switch (to) {
    case "running":
      startStep(draft, step);
      return undefined;
    case "completed": {
      const result = { summary, artifacts };
      draft.putStep({ ...withoutClaim(step), status: to, result, ended_at: at });
      const now_ready = freeDependents(draft, step).slice(0, MAX_NAMED_STEPS);
      const about = { attempt, ...by, summary: shortenForFact(summary), artifacts, now_ready };
      return draft.addFact("task.step.completed", step, about);
    }
    case "failed": {
      const run_id = step.claim?.run_id ?? actor.run_id;
      const failure = { code: to, message: reason, attempt, run_id, at };
      const tried = addEarlierAttempt(draft, step, to, reason);
      draft.putStep({ ...tried, status: to, failure, ended_at: at });
      const about = { attempt, max_attempts, ...by, reason: short };
      return draft.addFact("task.step.failed", step, about);
    }
    case "blocked": {
      // Not a failure of the step: it will need this attempt when what blocks it is gone.
      const tried = addEarlierAttempt(draft, step, to, reason);
      draft.putStep({ ...tried, status: to, reason, attempts: attempt - 1 });
      return draft.addFact("task.step.blocked", step, { ...by, reason: short });
    }
    case "ready":
      return makeReady(draft, step);
    case "cancelled":
      requireNoWaiting(draft, step);
      draft.putStep({ ...withoutClaim(step), status: to, reason, ended_at: at });
      return draft.addFact("task.step.cancelled", step, { ...by, reason: short });
  }
}

const MAX_NAMED_STEPS = 20;

/** Those that become ready by it. */
function freeDependents(draft: Draft, done: StepRecord): string[] {
  return draft.steps().flatMap((step) => {
    if (!step.depends_on.includes(done.step_id)) return [];
    const open_dependencies = step.open_dependencies - 1;
    const isReady = step.status === "pending" && open_dependencies === 0;
    draft.putStep({ ...step, open_dependencies, status: isReady ? "ready" : step.status });
    return isReady ? [step.step_id] : [];
  });
}

function makeReady(draft: Draft, step: StepRecord): void {
  const { attempts, max_attempts, status } = step;
  const problem = attemptsLeftProblem(step);
  if (problem !== undefined) {
    const message = `${problem[0]?.toUpperCase()}${problem.slice(1)}.`;
    throw refuse("illegal_transition", message, { attempts, max_attempts });
  }
  if (step.claim !== undefined) {
    return endClaim(draft, step, "released", "the orchestrator took it away");
  }
  draft.putStep(resetStep(step));
  const type = status === "blocked" ? "task.step.unblocked" : "task.step.retried";
  return draft.addFact(type, step, { attempts, max_attempts });
}

function requireNoWaiting(draft: Draft, { step_id }: StepRecord): void {
  const waiting = draft
    .steps()
    .filter((one) => one.depends_on.includes(step_id) && !isStepOver(one.status))
    .map((one) => one.step_id)
    .slice(0, MAX_NAMED_STEPS);
  if (waiting.length === 0) return;
  throw refuse(
    "illegal_transition",
    `Step ${step_id} cannot be cancelled alone: ${waiting.join(", ")} would wait for it for ever. In one task_update, cancel those too or remove their dependency on it.`,
    { waiting },
  );
}
