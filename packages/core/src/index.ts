// @soong/core: the kernel, from a tool's definition to a call's terminal result. Every value that is public is listed here;
// what our other packages share beyond that is in `@soong/core/internal`.

export type * from "./call/index.ts";
export type * from "./hook/index.ts";
export type * from "./journal/index.ts";
export type * from "./permission/index.ts";
export type * from "./registry/index.ts";
export type * from "./result/index.ts";
export type * from "@soong/schema";
export type * from "@soong/search";
export type * from "./surface/index.ts";
export type * from "./tool/index.ts";
export type * from "./fact-texts.ts";
export type * from "./facts.ts";
export type * from "./kernel.ts";
export type { Run, RunOptions } from "./run.ts";
export type { RunListener, Session, SessionOptions } from "./session.ts";
export {
  NobodyToAsk,
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
export { defineHook } from "./hook/index.ts";
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
export { RegistrationError, createRegistry } from "./registry/index.ts";
export {
  isContentBlock,
  joinText,
  viewsOf,
  visible,
  visibleJson,
  visibleLine,
} from "./result/index.ts";
export { RunRefused } from "./run.ts";
export { canonicalJson, compileSchema, isSensitive, lowerSchema, readSchema } from "@soong/schema";
export { createSearchIndex } from "@soong/search";
export { PORTABLE_NAMES, PORTABLE_PROFILE, SEARCH_TOOLS, resolveSurface } from "./surface/index.ts";
export {
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
