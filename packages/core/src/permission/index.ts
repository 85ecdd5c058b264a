// The permission module: one evaluator over a frozen policy, and the book of grants (PERM). Pure: no
// clock, no I/O, and no one is asked here; the pipeline puts the question.

export { alwaysRule } from "./always-rule.ts";
export type { PatternDisk, PatternWarning, PatternWorld } from "./check-patterns.ts";
export { checkPatterns } from "./check-patterns.ts";
export { builtInSensitivePaths, compileSensitivePaths } from "./sensitive-paths.ts";
export type { SensitivePathOptions } from "./sensitive-paths.ts";
export { MODES } from "./decision.ts";
export type { ChainEntry, Decision, Judgement, Mode, PolicyLayer, RuleOrigin } from "./decision.ts";
export { compileRecordedPolicy, describePolicy } from "./policy.ts";
export { evaluate } from "./evaluate.ts";
export type { PermissionFacts, ToolFacts } from "./facts.ts";
export type { PolicyProblem } from "./policy-problems.ts";
export { compileGlob, escapeGlob, globProblem, globsInside, literalPrefix } from "./glob.ts";
export type { GrantScope } from "./grants.ts";
export { describeScopes, scopeKey } from "./grants.ts";
export type { GrantLookup, Grants, ToolGrant } from "./grants.ts";
export { createGrants, NO_GRANTS } from "./grants.ts";
export { canonicalHost, hostOf, hostPatternProblem, matchesHost } from "./host.ts";
export { mergePolicies } from "./policy.ts";
export { baseName, foldCase, isWithin, joined } from "./path.ts";
export type {
  CompiledPolicy,
  NetworkPolicy,
  Policy,
  PolicyInput,
  SandboxPolicy,
} from "./policy.ts";
export { compilePolicy, frozenCopy, isMarkedReadonly, readLinks } from "./policy.ts";
export type { PathPattern, PatternPlaces } from "./path-pattern.ts";
export {
  compilePathPattern,
  linkedPrefix,
  pathPatternProblem,
  patternPlaces,
} from "./path-pattern.ts";
export type { FoundOption, KnownCommand, OptionTable, ReadArguments } from "./argv/index.ts";
export {
  innerCommands,
  isHarmlessGitKey,
  readGitConfigArguments,
  isOfTheSystem,
  isPlainCommand,
  isReadingProgram,
  isSimpleSedScript,
  hasOption,
  optionTable,
  optionValues,
  readArguments,
} from "./argv/index.ts";
export { quote } from "./path.ts";
export type { PermissionRule } from "./permission-rule.ts";
export { READING_SUBJECT } from "./compile-rule.ts";
export type { RestrictedPath } from "./restriction.ts";
export { restrictedGlobs, findRestriction } from "./restriction.ts";
export { selfRunningBy } from "./self-running-files.ts";
export type { ScopeChoice } from "./scopes-of-call.ts";
export { findGrantForQuestion, findScopes, scopeChoices } from "./scopes-of-call.ts";
export type { UnmatchedRule } from "./restriction.ts";
export { unmatchedRules } from "./restriction.ts";
export { chooseSandbox, commandAlone, subjectUnder } from "./sandbox.ts";
export type { StaticFacts, StaticVerdict } from "./static-verdict.ts";
export { staticVerdict } from "./static-verdict.ts";
