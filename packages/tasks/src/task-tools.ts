// The task tools as one source (TASK-1). Who calls is told by `resolveCaller`, from the run of the call.

import type { ToolSource } from "@soong/core";
import { orchestratorTools } from "./orchestrator-tools.ts";
import { taskTemplateTool } from "./task-template.ts";
import { workerTools, type WorkerToolParts } from "./worker-tools.ts";

export type TaskToolParts = WorkerToolParts;

export function taskTools(parts: TaskToolParts): ToolSource {
  const tools = [taskTemplateTool(parts), ...orchestratorTools(parts), ...workerTools(parts)];
  return { id: "tasks", kind: "agent", tools };
}
