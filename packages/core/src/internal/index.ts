// What our other packages share of the kernel and no user needs: it may change in any version.

export {
  ARGUMENTS_NAME,
  TOOL_REQUESTS,
  commandText,
  describeClaim,
  describeOpenQuestion,
  describeQuestion,
  describeStoredQuestion,
  describeSandbox,
  listSandbox,
} from "../call/index.ts";
export { isGuard } from "../hook/hook.ts";
export { readAnswer as readHookAnswer } from "../hook/run-hooks.ts";
export {
  isSecretName,
  isSecretShape,
  journalRef,
  pointerStep,
  secretVariables,
  within,
} from "../journal/index.ts";
export {
  MODES,
  READING_SUBJECT,
  baseName,
  canonicalHost,
  compileGlob,
  compilePathPattern,
  compileRecordedPolicy,
  readLinks,
  createGrants,
  findGrantForQuestion,
  type GrantScope,
  describeScopes,
  escapeGlob,
  foldCase,
  globProblem,
  globsInside,
  hostPatternProblem,
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
  joined,
  literalPrefix,
  matchesHost,
  optionTable,
  optionValues,
  pathPatternProblem,
  patternPlaces,
  type PatternPlaces,
  quote,
  readArguments,
  restrictedGlobs,
  findRestriction,
  selfRunningBy,
} from "../permission/index.ts";
export { readDefinition, toolRecord } from "../registry/registered-tool.ts";
export { MARGIN, headTail } from "../result/head-tail.ts";
export { shellWord } from "../result/shell-word.ts";
export { exactLine, exactText, stripEscapes } from "../result/visible.ts";
export { isEmptyResult } from "../result/map-result.ts";
export { readCallClass } from "../schedule/schedule.ts";
export { catalogEntries, entriesIn } from "../surface/catalog.ts";
export { createDeferredIndex, type SearchedTool } from "../surface/search-deferred.ts";
export { listWorkerDefaults } from "../surface/ceiling.ts";
export { effectsUnder, toolFacts } from "../surface/effects-under.ts";
export { estimateDefinition, estimateTokens } from "../surface/defer.ts";
export { wireNameOf, wireNames } from "../surface/wire-name.ts";
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
  qualifyName,
  measureText,
} from "../tool/index.ts";
