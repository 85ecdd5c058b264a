// The child module: agents as tools. Definitions, child runs on the loop, worker pools, and the active runs.

export { loadAgentCatalog, type AgentCatalog, type AgentCatalogOptions } from "./agent-catalog.ts";
export type { AgentDefinition, DefinitionOrigin, WrittenDefinition } from "./agent-definition.ts";
export type { TaskParts } from "./start-child.ts";
export { createAgents, type Agents, type AgentsOptions } from "./agents.ts";
export type { ChildResult, ChildStatus } from "./child-result.ts";
export type { ModelsPort } from "./run-child.ts";
export { parseAgentDefinition, type ParsedDefinition } from "./parse-definition.ts";
export type { WorkerPool, WorkerPools } from "./worker-pools.ts";
