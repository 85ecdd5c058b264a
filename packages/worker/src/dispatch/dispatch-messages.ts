// What a dispatch says while it waits, and why no worker was dispatched.

import type { RemoteWatch, RemoteWork } from "@soong/agent";
import { ToolFailure } from "@soong/core";
import type { StepRecord } from "@soong/tasks";
import type { PoolLook } from "./pool-watch.ts";

export function describeDeclined(declined: PoolLook["declined"]): string {
  return declined.map(({ worker_id, why }) => `${worker_id} does not, because ${why}`).join(" ");
}

export function refuseUnready({ step_id }: RemoteWork, step: StepRecord | undefined): ToolFailure {
  const how = step === undefined ? "not there" : `${step.status}, not ready`;
  return new ToolFailure({
    code: "step_not_ready",
    error_class: "invalid_arguments",
    message: `No worker was dispatched. Step ${step_id} is ${how}.`,
    recovery: "change_arguments",
    details: { started: false },
  });
}

export function refuseTwice({ step_id }: RemoteWork): ToolFailure {
  return new ToolFailure({
    code: "claim_held",
    error_class: "invalid_arguments",
    message: `No worker was dispatched. Step ${step_id} was given to a worker already, by another call.`,
    recovery: "change_arguments",
    details: { started: false },
  });
}

export function refuseDeserted(
  { pool, step_id }: RemoteWork,
  {
    wasBegun,
    pools,
    declined,
  }: { readonly wasBegun: boolean } & Pick<PoolLook, "pools" | "declined">,
): ToolFailure {
  const others = pools.filter((one) => one !== pool);
  const there = others.length === 0 ? "" : ` There are workers of ${others.join(", ")}.`;
  return new ToolFailure({
    code: "no_worker",
    error_class: "dependency_unavailable",
    message:
      declined.length === 0
        ? `Step ${step_id} is not done: there is no worker of the pool ${pool}. \`soong worker --pool ${pool}\` starts one; \`soong workers\` lists those of all pools.${there}`
        : `Step ${step_id} is not done: no worker of the pool ${pool} can take it. ${describeDeclined(declined)}`,
    recovery: "retry_after_delay",
    details: { started: wasBegun },
  });
}

/** Reports what a step waits for: each thing once an attempt. */
export function createWaitingReporter(watch: RemoteWatch) {
  const reported = new Set<string>();
  const attempts = new Set<string>();
  const onWaiting = (what: string): void => {
    if (reported.has(what)) return;
    reported.add(what);
    watch.onWaiting(what);
  };
  const reportAttempt = (at: string, what: string): void => {
    if (attempts.has(at)) return;
    attempts.add(at);
    reported.clear();
    onWaiting(what);
  };
  return { onWaiting, reportAttempt };
}
