// The child module: agents as tools. Definitions, child runs on the loop, worker pools, and the active runs.

export {
  loadAgentCatalog,
  type AgentCatalog,
  type AgentCatalogOptions,
  type AgentDefinition,
  type DefinitionOrigin,
  type WrittenDefinition,
  parseAgentDefinition,
  type ParsedDefinition,
} from "./agent-catalog.ts";
export type { TaskParts, ModelsPort } from "./run-child.ts";
export { createAgents, type Agents, type AgentsOptions } from "./agents.ts";
export type { ChildResult, ChildStatus } from "./child-result.ts";
export type { WorkerPool, WorkerPools } from "./worker-pools.ts";
