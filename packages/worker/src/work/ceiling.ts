// The policy of the run that dispatched the work, as the ceiling of the worker's (PERM-12). It is read from the record of that
// run. What it says of the project holds for the project of this machine.

import {
  compilePolicy,
  SoongError,
  type Fact,
  type PermissionRule,
  type Policy,
  type PolicyInput,
  type Roots,
} from "@soong/core";
import { compileRecordedPolicy, readLinks } from "@soong/core/internal";
import type { RemoteOrigin } from "@soong/agent";
import type { Store } from "@soong/store";

/** What a policy says about a machine. */
export interface MachinePlaces extends Pick<
  PolicyInput,
  "home" | "tmp_dir" | "protected_roots" | "case_insensitive_paths"
> {
  readonly roots: Roots;
  /** Where a path leads, through links. */
  readonly resolvePath: (path: string) => string | undefined;
}

export async function readCeiling(
  store: Store,
  { session_id, run_id }: RemoteOrigin,
  here: MachinePlaces,
): Promise<Policy> {
  const reader = await store.readSession(session_id);
  const facts = await reader.facts({ run_id, limit: 20 });
  const started = facts.find((fact): fact is Fact<"run.started"> => fact.type === "run.started");
  const policy = started?.data.policy;
  const compiled = policy === undefined ? undefined : compileRecordedPolicy(policy);
  if (compiled?.ok !== true) throw refuse(`run ${run_id} has no policy on record`);
  return movePolicy(compiled.policy, here);
}

/** All of its ceilings, too. */
export function movePolicy({ input, ceiling }: Policy, here: MachinePlaces): Policy {
  const { roots, resolvePath, ...places } = here;
  const { roots: there, links: _links, ...rest } = input;
  const moved: PolicyInput = {
    ...rest,
    ...places,
    roots: { ...roots, write: roots.write.filter((root) => there?.write.includes(root) === true) },
    rules: (input.rules ?? []).map((rule) => moveRule(rule, there?.project, roots.project)),
  };
  const links = readLinks(moved, resolvePath);
  const compiled = compilePolicy({
    ...moved,
    links,
    ...(ceiling !== undefined && { ceiling: movePolicy(ceiling, here) }),
  });
  if (compiled.ok) return compiled.policy;
  const [problem] = compiled.problems;
  throw refuse(`the policy of its dispatch cannot be used here: ${problem?.message ?? ""}`);
}

function moveRule(rule: PermissionRule, there: string | undefined, here: string): PermissionRule {
  if (there === undefined) return rule;
  const move = (path: string): string =>
    path === there || path.startsWith(`${there}/`) ? here + path.slice(there.length) : path;
  const { path, project } = rule;
  return {
    ...rule,
    ...(typeof path === "string" && { path: move(path) }),
    ...(typeof project === "string" && { project: move(project) }),
  };
}

function refuse(why: string): SoongError {
  return new SoongError("no_ceiling", `The work was not taken: ${why}.`);
}
