// Claims that end without a result (TASK-4): the lease ran out, the worker gave the step back, or the orchestrator took
// it away. The step can be claimed again while it has attempts left, and has failed when it has none: a step that
// kills its workers must not do so for ever.

import { type Draft, describeClaim } from "./draft.ts";
import { addEarlierAttempt } from "./earlier-attempts.ts";
import type { ClaimRecord, StepRecord } from "./records.ts";

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
    const until = step.claim?.lease_expires_at ?? draft.at;
    endClaim(draft, step, "lease_lost", `its worker sent no heartbeat until ${until}`);
  }
}

export function startLease({
  now,
  leaseMs,
  machineTime,
}: Draft): Pick<ClaimRecord, "lease_expires_at" | "lease_clock"> {
  return {
    lease_expires_at: new Date(now + leaseMs).toISOString(),
    ...(machineTime === undefined
      ? {}
      : { lease_clock: { machine: machineTime.machine, until_ms: machineTime.ms + leaseMs } }),
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
  const failure = {
    code,
    message: why,
    attempt: attempts,
    run_id: claim.run_id,
    at: draft.at,
  };
  const data = { reason: why, attempt: attempts, max_attempts, claim: describeClaim(claim) };
  const hasFailed = attempts >= max_attempts;
  draft.addFact(`task.step.${code}`, step, { ...data, status: hasFailed ? "failed" : "ready" });
  const free = { ...addEarlierAttempt(draft, step, code, why), failure };
  if (!hasFailed) return draft.putStep({ ...free, status: "ready" });
  draft.putStep({ ...free, status: "failed", ended_at: draft.at });
  const message = `${why}, and that was attempt ${attempts} of ${max_attempts}`;
  draft.addFact("task.step.failed", step, { reason: message, attempt: attempts, max_attempts });
}

/** Given back before anything came of it, through no fault of the step: the attempt does not count. */
export function returnStep(draft: Draft, step: StepRecord, why: string): void {
  if (step.claim === undefined) return;
  const attempts = step.attempts - 1;
  draft.putStep({ ...addEarlierAttempt(draft, step, "stopped", why), status: "ready", attempts });
  draft.addFact("task.step.released", step, {
    reason: why,
    attempt: step.attempts,
    max_attempts: step.max_attempts,
    counted: false,
    status: "ready",
    claim: describeClaim(step.claim),
  });
}
