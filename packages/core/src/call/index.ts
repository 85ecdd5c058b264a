// The call room: the pipeline of one call, its siblings in a turn, and what a call needs from its run.
// The only room that executes anything.

export { ARGUMENTS_NAME } from "./arrive.ts";
export { createArtifactSources, type SourcesOfArtifact } from "./artifact-sources.ts";
export type { Call, ToolCall } from "./call.ts";
export * from "./children.ts";
export * from "./config.ts";
export { placesOfReading } from "./context.ts";
export { Deadlines } from "./deadlines.ts";
export * from "./explain.ts";
export type * from "./host.ts";
export { TOOL_REQUESTS } from "./permission-facts.ts";
export * from "./permission-request.ts";
export * from "./recover.ts";
export * from "./search-tools.ts";
export { frozenContext } from "./run-context.ts";
export * from "./signal.ts";
export * from "./turn.ts";
export type { Turn } from "./opened-turn.ts";
