// Taking a step (TASK-4): one claim a run, the first ready step or the one asked for.

import type { TaskActor } from "./actor.ts";
import { describeClaim, type Draft } from "./draft.ts";
import { startLease, expireLeases } from "./leases.ts";
import { refuseEnded } from "./plan-update.ts";
import { isTaskEnded, type ClaimRecord, type StepRecord, type TaskRecord } from "./records.ts";
import { refuse, type Outcome } from "./refusal.ts";

export interface ClaimRequest {
  readonly task_id: string;
  /** Default: the first ready one. */
  readonly step_id?: string | undefined;
  /** Also set it running, in the same change. */
  readonly start?: boolean | undefined;
}

/** How to come back to a claim: nothing else proves it. */
export type HeldClaim = Pick<StepRecord, "task_id" | "step_id"> &
  Pick<ClaimRecord, "token" | "run_id">;

export type Claimed =
  | {
      readonly kind: "claimed";
      readonly task: TaskRecord;
      readonly step: StepRecord;
      readonly claim: HeldClaim;
    }
  | { readonly kind: "nothing_ready"; readonly task: TaskRecord };

export function planClaim(
  draft: Draft,
  task: TaskRecord,
  actor: TaskActor,
  request: ClaimRequest,
  token: string,
): Outcome<Claimed> {
  expireLeases(draft);
  if (isTaskEnded(task.status)) return refuseEnded(task);
  if (task.status === "blocked") {
    return refuse(
      "task_blocked",
      `Task ${task.task_id} is blocked: ${task.reason ?? "no reason was given"}. Its steps can be claimed when the orchestrator unblocks it.`,
    );
  }
  const held = draft.allSteps().find(({ claim }) => claim?.run_id === actor.run_id);
  if (held !== undefined) {
    return refuse(
      "claim_held",
      `This run works on step ${held.step_id} already, and a run works on one step at a time. Finish it with task_update_step first.`,
      { step_id: held.step_id },
    );
  }
  const ready = draft.steps().filter(({ status }) => status === "ready");
  const given = getAssignedStep(actor);
  if (given !== undefined && request.step_id !== undefined && request.step_id !== given) {
    return refuse("not_allowed", `This worker was given step ${given} and takes no other.`, {
      step_id: given,
    });
  }
  const step_id = request.step_id ?? given;
  const chosen = step_id === undefined ? ready[0] : draft.step(step_id);
  if (chosen === undefined) {
    if (step_id === undefined) return { ok: true, value: { kind: "nothing_ready", task } };
    return refuse("step_unknown", `${step_id} is no step of task ${task.task_id}.`);
  }
  if (chosen.status !== "ready") return refuseNotReady(chosen, ready);
  const claimed = claimStep(draft, actor, chosen, token);
  const begun = startTask(draft, task);
  const { run_id } = claimed;
  if (request.start === true) startStep(draft, draft.step(chosen.step_id) ?? chosen);
  const step = draft.step(chosen.step_id) ?? chosen;
  const heldNow = { task_id: task.task_id, step_id: chosen.step_id, token, run_id };
  return { ok: true, value: { kind: "claimed", task: begun, step, claim: heldNow } };
}

export function getAssignedStep(actor: TaskActor): string | undefined {
  return actor.kind === "worker" ? actor.step_id : undefined;
}

function claimStep(draft: Draft, actor: TaskActor, step: StepRecord, token: string): ClaimRecord {
  const taken: ClaimRecord = {
    token,
    run_id: actor.run_id,
    agent_id: actor.agent_id,
    ...(actor.kind === "worker" && actor.worker !== undefined ? { worker: actor.worker } : {}),
    claimed_at: draft.at,
    ...startLease(draft),
  };
  const attempts = step.attempts + 1;
  const { note: _note, started_at: _started, ended_at: _ended, ...rest } = step;
  draft.putStep({ ...rest, status: "claimed", attempts, claim: taken });
  draft.addFact("task.step.claimed", step, {
    title: step.title,
    attempt: attempts,
    max_attempts: step.max_attempts,
    claim: describeClaim(taken),
  });
  return taken;
}

/** The holder of the claim begins to work. */
export function startStep(draft: Draft, step: StepRecord): void {
  draft.putStep({ ...step, status: "running", started_at: draft.at });
  const by = step.claim === undefined ? {} : { claim: describeClaim(step.claim) };
  draft.addFact("task.step.started", step, { attempt: step.attempts, ...by });
}

/** A task runs from its first claim on. */
function startTask(draft: Draft, task: TaskRecord): TaskRecord {
  if (task.status !== "pending") return task;
  const begun: TaskRecord = {
    ...task,
    status: "running",
    started_at: draft.at,
    updated_at: draft.at,
  };
  draft.putTask(begun);
  draft.addFact("task.started", task);
  return begun;
}

function refuseNotReady(step: StepRecord, ready: readonly StepRecord[]): ReturnType<typeof refuse> {
  const { step_id, status, claim: held, open_dependencies } = step;
  const why =
    held !== undefined
      ? `is ${status} by run ${held.run_id}`
      : status === "pending"
        ? `waits for ${open_dependencies} of its dependencies`
        : `is ${status}`;
  const ids = ready.map((one) => one.step_id);
  const others = ids.length === 0 ? "No step is ready now." : `Ready now: ${ids.join(", ")}.`;
  return refuse("step_not_ready", `Step ${step_id} ${why} and cannot be claimed. ${others}`, {
    status,
    ready: ids,
  });
}
