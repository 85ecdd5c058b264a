// What the tools of this room share.

import type { CallIds } from "@soong/core";
import type { ClaimKeeper, TaskCaller, Tasks } from "@soong/tasks";
import type { AgentCatalog } from "./agent-catalog.ts";
import type { ChildEnvironment } from "./run-child.ts";
import type { WorkerPools } from "./worker-pools.ts";

export interface AgentParts extends ChildEnvironment {
  readonly catalog: AgentCatalog;
  readonly childTimeoutMs: number;
  readonly workers: WorkerPools;
  readonly tasks: TaskParts | undefined;
  resolveCaller(ids: CallIds): TaskCaller;
}

export interface TaskParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
}
