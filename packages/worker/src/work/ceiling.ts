// Reads the policy of the dispatching run, which is the ceiling of the worker's policy (PERM-12), and the tools that its task
// denies. Both come from the record of that run. Rules about its project apply to the project of this machine.

import { SoongError, type Fact } from "@soong/core";
import { compileRecordedPolicy } from "@soong/core/internal";
import type { RemoteOrigin, WorkCeiling } from "@soong/agent";
import type { Store } from "@soong/store";
import { movePolicy, type MachinePlaces } from "./move-policy.ts";

export async function readCeiling(
  store: Store,
  { session_id, run_id }: RemoteOrigin,
  here: MachinePlaces,
): Promise<WorkCeiling> {
  const reader = await store.readSession(session_id);
  const facts = await reader.facts({ run_id, limit: 20 });
  const started = facts.find((fact): fact is Fact<"run.started"> => fact.type === "run.started");
  const policy = started?.data.policy;
  const compiled = policy === undefined ? undefined : compileRecordedPolicy(policy);
  if (compiled?.ok !== true) throw refuse(`run ${run_id} has no policy on record`);
  const moved = movePolicy(compiled.policy, here);
  if (moved.ok) return { policy: moved.policy, taskDenied: started?.data.request.task_denied };
  const [problem] = moved.problems;
  throw refuse(`the policy of its dispatch cannot be used here: ${problem?.message ?? ""}`);
}

function refuse(why: string): SoongError {
  return new SoongError("no_ceiling", `The work was not taken: ${why}.`);
}
