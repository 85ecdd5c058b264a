// What the tools of this room share.

import type { CallIds } from "@soong/core";
import type { ClaimKeeper, TaskCaller, Tasks } from "@soong/tasks";
import type { AgentCatalog } from "./agent-catalog.ts";
import type { ChildSurroundings } from "./child-run.ts";
import type { WorkerPools } from "./worker-pools.ts";

export interface AgentParts extends ChildSurroundings {
  readonly catalog: AgentCatalog;
  readonly childTimeoutMs: number;
  readonly workers: WorkerPools;
  readonly tasks: TaskParts | undefined;
  callerOf(ids: CallIds): TaskCaller;
}

export interface TaskParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
}
