// @soong/core: the kernel, from a tool's definition to a call's terminal result. Every value that is public is listed here;
// what our other packages share beyond that is in `@soong/core/internal`.

export type * from "./call/index.ts";
export type * from "./hook/hook.ts";
export type * from "./hook/run-hooks.ts";
export type * from "./journal/index.ts";
export type * from "./permission/index.ts";
export type * from "./registry/describe-definitions.ts";
export type * from "./registry/registered-tool.ts";
export type * from "./registry/registry.ts";
export type * from "./result/bound-result.ts";
export type * from "./result/head-tail.ts";
export type * from "./result/map-result.ts";
export type * from "./result/read-return.ts";
export type * from "./result/visible.ts";
export type * from "@soong/schema";
export type * from "@soong/search";
export type * from "./surface/catalog.ts";
export type * from "./surface/ceiling.ts";
export type * from "./surface/defer.ts";
export type * from "./surface/effects-under.ts";
export type * from "./surface/model-tools.ts";
export type * from "./surface/profile.ts";
export type * from "./surface/resolve-surface.ts";
export type * from "./surface/search-deferred.ts";
export type * from "./surface/surface.ts";
export type * from "./surface/wire-name.ts";
export type * from "./tool/index.ts";
export type * from "./fact-texts.ts";
export type * from "./facts.ts";
export type * from "./kept-texts.ts";
export type * from "./kernel.ts";
export type { Run, RunOptions } from "./run.ts";
export type { RunListener, Session, SessionOptions } from "./session.ts";
export {
  NoOneToAsk,
  RUNTIME_RESTARTED,
  kernelConfig,
  readPermissionAnswer,
  recoveryEntry,
} from "./call/index.ts";
export {
  KERNEL_FACT_TEXTS,
  countOf,
  describeArguments,
  describeFact,
  inBrackets,
  phrase,
} from "./fact-texts.ts";
export { defineHook } from "./hook/hook.ts";
export {
  JournalFailure,
  boundFact,
  createHeldClock,
  createMemoryArtifacts,
  createMemoryJournal,
  createRedactor,
  isTerminalFact,
  randomIds,
  systemClock,
  terminalFactType,
} from "./journal/index.ts";
export { createKernel } from "./kernel.ts";
export {
  builtInSensitivePaths,
  checkPatterns,
  compilePolicy,
  compileSensitivePaths,
  describePolicy,
  evaluate,
  staticVerdict,
} from "./permission/index.ts";
export { RegistrationError, createRegistry } from "./registry/registry.ts";
export { isContentBlock } from "./result/read-return.ts";
export { joinText, viewsOf } from "./result/map-result.ts";
export { visible, visibleJson, visibleLine } from "./result/visible.ts";
export { RunRefused } from "./run-start.ts";
export { canonicalJson, compileSchema, isSensitive, lowerSchema, readSchema } from "@soong/schema";
export { createSearchIndex } from "@soong/search";
export { PORTABLE_NAMES } from "./surface/wire-name.ts";
export { PORTABLE_PROFILE } from "./surface/profile.ts";
export { SEARCH_TOOLS } from "./surface/defer.ts";
export { resolveSurface } from "./surface/resolve-surface.ts";
export {
  SANDBOX_MODES,
  SoongError,
  ToolFailure,
  defineTool,
  digestOf,
  messageOf,
  sha256Hex,
  tool,
  toolResult,
  toolsOf,
} from "./tool/index.ts";
