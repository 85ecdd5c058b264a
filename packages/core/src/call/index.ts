// The call module: the pipeline of one call, its siblings in a turn, and what a call needs from its run.
// The only module that executes anything.

export { ARGUMENTS_NAME } from "./accept-call.ts";
export { createArtifactSources, type SourcesOfArtifact } from "./artifact-sources.ts";
export * from "./children.ts";
export * from "./config.ts";
export { artifactRef, deepFreeze, freezeContext, placesOfReading } from "./context.ts";
export { Deadlines } from "./execute.ts";
export * from "./explain.ts";
export type * from "./host.ts";
export { TOOL_REQUESTS } from "./permission-facts.ts";
export * from "./permission-request.ts";
export {
  commandText,
  describeClaim,
  describeOpenQuestion,
  describeQuestion,
  describeStoredQuestion,
} from "./question-text.ts";
export { describeSandbox, listSandbox } from "./sandbox-text.ts";
export * from "./recover.ts";
export * from "./search-tools.ts";
export { OpenTurn } from "./turn.ts";
