// A policy as a record (PERM-9): kept with the run, printed for people, and compiled again by replay
// (REPLAY-1), which must judge as the run was judged.

import { asJson, type JsonObject } from "@soong/schema";
import { type CompiledPolicy, type Policy, type PolicyInput, compilePolicy } from "./policy.ts";
import { builtInSensitivePaths } from "./sensitive-paths.ts";

/** Always the same keys in the same order, every default filled in. */
export function describePolicy(policy: Policy): JsonObject {
  const { input } = policy;
  const record = {
    mode: policy.mode,
    destructive: policy.destructive,
    network: { mode: policy.network.mode, hosts: policy.network.hosts },
    rules: (input.rules ?? []).map((rule) => ({ ...rule })),
    roots: input.roots ?? null,
    tmp_dir: input.tmp_dir ?? null,
    protected_roots: input.protected_roots ?? [],
    sensitive_paths: input.sensitive_paths ?? [],
    built_in_sensitive_paths: builtInSensitivePaths(),
    home: input.home ?? null,
    links: input.links ?? {},
    case_insensitive_paths: input.case_insensitive_paths ?? false,
    readonly_mcp: input.readonly_mcp ?? [],
    ceiling: policy.ceiling === undefined ? null : describePolicy(policy.ceiling),
  };
  return asJson(record);
}

/** The policy a record was made from. */
export function compileRecordedPolicy(record: JsonObject): CompiledPolicy {
  const { ceiling, built_in_sensitive_paths: _builtIn, ...rest } = record;
  const given = Object.entries(rest).filter(([, value]) => value !== null);
  const input = Object.fromEntries(given) as PolicyInput;
  if (ceiling === null || ceiling === undefined) return compilePolicy(input);
  const parent = compileRecordedPolicy(ceiling as JsonObject);
  return parent.ok ? compilePolicy({ ...input, ceiling: parent.policy }) : parent;
}
