// What our other packages share of the kernel and no user needs: it may change in any version.

export { ARGUMENTS_NAME, TOOL_REQUESTS } from "../call/index.ts";
export { isGuard } from "../hook/index.ts";
export {
  isSecretName,
  isSecretShape,
  journalRef,
  pointerStep,
  secretVariables,
  within,
} from "../journal/index.ts";
export {
  READING_SUBJECT,
  baseName,
  compileGlob,
  compileRecordedPolicy,
  createGrants,
  describeScopes,
  globProblem,
  hasOption,
  innerCommands,
  type FoundOption,
  type KnownCommand,
  type OptionTable,
  type ReadArguments,
  isHarmlessGitKey,
  readGitConfigArguments,
  isOfTheSystem,
  isPlainCommand,
  isReadingProgram,
  isSimpleSedScript,
  isWithin,
  literalPrefix,
  optionTable,
  optionValues,
  pathPatternProblem,
  quote,
  readArguments,
  restrictedGlobs,
  findRestriction,
  selfRunningBy,
} from "../permission/index.ts";
export { readDefinition, toolRecord } from "../registry/index.ts";
export { MARGIN, exactLine, exactText, headTail, isEmptyResult } from "../result/index.ts";
export { readCallClass } from "../schedule/index.ts";
export {
  catalogEntries,
  createDeferredIndex,
  effectsUnder,
  entriesIn,
  estimateDefinition,
  estimateTokens,
  toolFacts,
  type SearchedTool,
  wireNameOf,
  wireNames,
} from "../surface/index.ts";
export {
  PRE_IMAGE,
  invalidArguments,
  isErrorClass,
  isHandlerErrorStatus,
  isHandlerStatus,
  isMediaBlock,
  isRecovery,
  matchesName,
  nameProblem,
  primaryArgument,
} from "../tool/index.ts";
