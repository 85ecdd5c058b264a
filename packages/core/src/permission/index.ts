// The permission room: one evaluator over a frozen policy, and the book of grants (PERM). Pure: no
// clock, no I/O, and nobody is asked here; whoever runs the call puts the question.

export { builtInSensitivePaths, compileSensitivePaths } from "./sensitive-paths.ts";
export type { SensitivePathOptions } from "./sensitive-paths.ts";
export type { ChainEntry, Decision, Judgement, Mode, PolicyLayer, RuleOrigin } from "./decision.ts";
export { compileRecordedPolicy, describePolicy } from "./describe-policy.ts";
export { evaluate } from "./evaluate.ts";
export type { PermissionFacts, ToolFacts } from "./facts.ts";
export type { PolicyProblem } from "./field-problems.ts";
export { compileGlob, globProblem } from "./glob.ts";
export type { GrantScope } from "./grant-scope.ts";
export { describeScopes, scopeKey } from "./grant-scope.ts";
export type { GrantLookup, Grants, ToolGrant } from "./grants.ts";
export { createGrants, NO_GRANTS } from "./grants.ts";
export { hostOf, matchesHost } from "./host.ts";
export { mergePolicies } from "./merge-policies.ts";
export { nearestName } from "./nearest-name.ts";
export type { CompiledPolicy, NetworkPolicy, Policy, PolicyInput } from "./policy.ts";
export { compilePolicy, isMarkedReadonly } from "./policy.ts";
export { quote } from "./quote.ts";
export type { PermissionRule } from "./permission-rule.ts";
export { scopesOf } from "./scopes-of-call.ts";
export type { StaticFacts, StaticVerdict } from "./static-verdict.ts";
export { staticVerdict } from "./static-verdict.ts";
