// Taking a step (TASK-4): one claim a run, the first ready step or the one asked for. And claims that end without a
// result: the lease ran out, the worker gave the step back, or the orchestrator took it away. The step can be claimed again
// while it has attempts left, and has failed when it has none: a step that kills its workers must not do so for ever.

import { omitUndefined } from "@soong/schema";
import type { TaskActor } from "./actor.ts";
import { readClaim, describeClaim, withoutClaim, type Draft } from "./draft.ts";
import { requireOpen } from "./plan-task.ts";
import type { ClaimRecord, EarlierAttempt, StepRecord, TaskRecord } from "./records.ts";
import { refuse, type TaskRefused } from "./refusal.ts";

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
): Claimed {
  expireLeases(draft);
  requireOpen(task);
  if (task.status === "blocked") {
    throw refuse(
      "task_blocked",
      `Task ${task.task_id} is blocked: ${task.reason ?? "no reason was given"}. Its steps can be claimed when the orchestrator unblocks it.`,
    );
  }
  const held = draft.allSteps().find(({ claim }) => claim?.run_id === actor.run_id);
  if (held !== undefined) {
    throw refuse(
      "claim_held",
      `This run works on step ${held.step_id} already, and a run works on one step at a time. Finish it with task_update_step first.`,
      { step_id: held.step_id },
    );
  }
  const ready = draft.steps().filter(({ status }) => status === "ready");
  const given = getAssignedStep(actor);
  if (given !== undefined && request.step_id !== undefined && request.step_id !== given) {
    const message = `This worker was given step ${given} and takes no other.`;
    throw refuse("not_allowed", message, { step_id: given });
  }
  const step_id = request.step_id ?? given;
  const chosen = step_id === undefined ? ready[0] : draft.step(step_id);
  if (chosen === undefined) {
    if (step_id === undefined) return { kind: "nothing_ready", task };
    throw refuse("step_unknown", `${step_id} is not a step of task ${task.task_id}.`);
  }
  if (chosen.status !== "ready") throw refuseNotReady(chosen, ready);
  const claimed = claimStep(draft, actor, chosen, token);
  const begun = startTask(draft, task);
  const step = request.start === true ? startStep(draft, claimed) : claimed;
  const claim = { task_id: task.task_id, step_id: step.step_id, token, run_id: actor.run_id };
  return { kind: "claimed", task: begun, step, claim };
}

export function getAssignedStep(actor: TaskActor): string | undefined {
  return actor.kind === "worker" ? actor.step_id : undefined;
}

function claimStep(draft: Draft, actor: TaskActor, step: StepRecord, token: string): StepRecord {
  const taken: ClaimRecord = {
    token,
    run_id: actor.run_id,
    agent_id: actor.agent_id,
    ...(actor.kind === "worker" && omitUndefined({ worker: actor.worker })),
    claimed_at: draft.at,
    ...startLease(draft),
  };
  const attempts = step.attempts + 1;
  const { note: _note, started_at: _started, ended_at: _ended, ...rest } = step;
  const { title, max_attempts } = step;
  const about = { title, attempt: attempts, max_attempts, claim: describeClaim(taken) };
  draft.addFact("task.step.claimed", step, about);
  return draft.putStep({ ...rest, status: "claimed", attempts, claim: taken });
}

/** The holder of the claim begins to work. */
export function startStep(draft: Draft, step: StepRecord): StepRecord {
  draft.addFact("task.step.started", step, { attempt: step.attempts, ...readClaim(step) });
  return draft.putStep({ ...step, status: "running", started_at: draft.at });
}

/** A task runs from its first claim on. */
function startTask(draft: Draft, task: TaskRecord): TaskRecord {
  if (task.status !== "pending") return task;
  const { at } = draft;
  const begun: TaskRecord = { ...task, status: "running", started_at: at, updated_at: at };
  draft.putTask(begun);
  draft.addFact("task.started", task);
  return begun;
}

function refuseNotReady(step: StepRecord, ready: readonly StepRecord[]): TaskRefused {
  const { step_id, status, claim: held, open_dependencies } = step;
  const why =
    held !== undefined
      ? `is ${status} by run ${held.run_id}`
      : status === "pending"
        ? `waits for ${open_dependencies} of its dependencies`
        : `is ${status}`;
  const ids = ready.map((one) => one.step_id);
  const others = ids.length === 0 ? "No step is ready now." : `Ready now: ${ids.join(", ")}.`;
  const message = `Step ${step_id} ${why} and cannot be claimed. ${others}`;
  return refuse("step_not_ready", message, { status, ready: ids });
}

/**
 * The first to read a task makes the steps of lost workers ready again. A claim whose worker is in this process is not
 * lost: the clock was set, or the process was suspended, and no one else has taken the step meanwhile.
 */
export function expireLeases(draft: Draft): void {
  for (const step of draft.allSteps()) {
    const { claim } = step;
    if (claim === undefined || !isExpired(claim, draft)) continue;
    if (draft.isAlive(claim.token)) {
      draft.putStep({ ...step, claim: { ...claim, ...startLease(draft) } });
      continue;
    }
    const until = claim.lease_expires_at;
    endClaim(draft, step, "lease_lost", `its worker was lost; its lease ended at ${until}`);
  }
}

export function startLease({
  now,
  leaseMs,
  machineTime,
}: Draft): Pick<ClaimRecord, "lease_expires_at" | "lease_clock"> {
  return {
    lease_expires_at: new Date(now + leaseMs).toISOString(),
    ...(machineTime && {
      lease_clock: { machine: machineTime.machine, until_ms: machineTime.ms + leaseMs },
    }),
  };
}

/** The time of day can be set, and may differ between two processes; time since the machine was started cannot. */
function isExpired({ lease_expires_at, lease_clock }: ClaimRecord, draft: Draft): boolean {
  const { now, machineTime } = draft;
  return lease_clock !== undefined && lease_clock.machine === machineTime?.machine
    ? lease_clock.until_ms <= machineTime.ms
    : Date.parse(lease_expires_at) <= now;
}

export function endClaim(
  draft: Draft,
  step: StepRecord,
  code: "lease_lost" | "released",
  why: string,
): void {
  const { claim, attempts, max_attempts } = step;
  if (claim === undefined) return;
  const { run_id } = claim;
  const failure = { code, message: why, attempt: attempts, run_id, at: draft.at };
  const data = { reason: why, attempt: attempts, max_attempts, claim: describeClaim(claim) };
  const hasFailed = attempts >= max_attempts;
  draft.addFact(`task.step.${code}`, step, { ...data, status: hasFailed ? "failed" : "ready" });
  const free = { ...addEarlierAttempt(draft, step, code, why), failure };
  if (!hasFailed) {
    draft.putStep({ ...free, status: "ready" });
    return;
  }
  draft.putStep({ ...free, status: "failed", ended_at: draft.at });
  const message = `${why}, and that was attempt ${attempts} of ${max_attempts}`;
  draft.addFact("task.step.failed", step, { reason: message, attempt: attempts, max_attempts });
}

/** Given back before anything came of it, through no fault of the step: the attempt does not count. */
export function returnStep(draft: Draft, step: StepRecord, why: string): void {
  if (step.claim === undefined) return;
  const { attempts: attempt, max_attempts } = step;
  const status = "ready";
  const tried = addEarlierAttempt(draft, step, "stopped", why);
  draft.putStep({ ...tried, status, attempts: attempt - 1 });
  const claim = describeClaim(step.claim);
  const about = { reason: why, attempt, max_attempts, counted: false, status, claim } as const;
  draft.addFact("task.step.released", step, about);
}

/** Attempts at a step that are kept. */
const MOST_KEPT = 10;
const MESSAGE_CHARS = 500;

/** The step without the claim it had, and with what came of it. */
export function addEarlierAttempt(
  draft: Draft,
  step: StepRecord,
  outcome: EarlierAttempt["outcome"],
  message: string,
): StepRecord {
  const { claim, attempts: attempt, earlier = [] } = step;
  if (claim === undefined) return withoutClaim(step);
  const { run_id, worker } = claim;
  const ended: EarlierAttempt = {
    attempt,
    outcome,
    message: message.slice(0, MESSAGE_CHARS),
    run_id,
    ...omitUndefined({ worker }),
    at: draft.at,
  };
  return { ...withoutClaim(step), earlier: [...earlier, ended].slice(-MOST_KEPT) };
}

/** One call of an earlier attempt that changed something outside, or may have. */
export interface EarlierCall {
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  /** `unknown`: it is not known whether it happened. */
  readonly status: string;
  /** The files, programs and hosts it was about. */
  readonly targets: readonly string[];
}

/** What runs of the session did to the outside, as its journal has it. */
export type EarlierCalls = (run_ids: readonly string[]) => Promise<readonly EarlierCall[]>;

/** Attempts, with their calls where those can be read. */
export async function readEarlierAttempts(
  { earlier = [] }: Pick<StepRecord, "earlier">,
  readCalls: EarlierCalls | undefined,
): Promise<readonly (EarlierAttempt & { readonly calls?: readonly EarlierCall[] })[]> {
  if (earlier.length === 0 || readCalls === undefined) return earlier;
  const calls = await readCalls(earlier.map(({ run_id }) => run_id));
  return earlier.map((attempt) => {
    const own = calls.filter(({ run_id }) => run_id === attempt.run_id);
    return own.length === 0 ? attempt : { ...attempt, calls: own };
  });
}

/** For the next worker, before anything else. Undefined for a step that was not tried yet. */
export async function describeEarlierAttempts(
  step: StepRecord,
  readCalls: EarlierCalls | undefined,
): Promise<string | undefined> {
  const attempts = await readEarlierAttempts(step, readCalls);
  if (attempts.length === 0) return undefined;
  const lines = attempts.flatMap(({ attempt, outcome, message, calls = [] }) => [
    `- Attempt ${attempt} ended as ${outcome}: ${message}`,
    ...calls.map(
      ({ tool_name, status, targets }) =>
        `  - ${[tool_name, ...targets].join(" ")}: ${status}${status === "unknown" ? ", it may or may not have happened" : ""}`,
    ),
  ]);
  return [
    "This step was tried before. Do not do again what has happened; where that is unknown, find out first.",
    ...lines,
  ].join("\n");
}
