// The surface module: which tools a run may see, under which wire names, and how deferred ones are found.
// Pure functions of data.

export * from "./catalog.ts";
export * from "./ceiling.ts";
export { estimateDefinition, estimateTokens, SEARCH_TOOLS } from "./defer.ts";
export * from "./effects-under.ts";
export { modelTools, type DeferredList, type ModelTool, type ModelTools } from "./model-tools.ts";
export * from "./profile.ts";
export * from "./resolve-surface.ts";
export * from "./search-deferred.ts";
export type * from "./surface.ts";
export * from "./wire-name.ts";
