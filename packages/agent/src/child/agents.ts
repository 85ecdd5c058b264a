// Agents as tools: knows the definitions, the worker pools and the active runs, and gives the loop its run registry, the
// kernel its tools, and the task tools their callers.

import type { CallIds, ToolSource } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { RunBoard } from "../loop/index.ts";
import type { TaskActor, TaskCaller, Tasks } from "@soong/tasks";
import type { AgentCatalog } from "./agent-catalog.ts";
import type { AgentParts, TaskParts } from "./start-child.ts";
import { createChildRegistry } from "./child-registry.ts";
import type { ChildEnvironment } from "./run-child.ts";
import { readEarlierCalls } from "./earlier-calls.ts";
import { inspectAgentTool, listDefinitionsTool } from "./inspect-tools.ts";
import { planTemplateTool } from "./plan-template.ts";
import { createActiveRuns, type ActiveRuns } from "./active-runs.ts";
import { createSubAgentTool, forkAgentTool } from "./spawn-tools.ts";
import {
  createWorkerPools,
  toWorkerActor,
  type WorkerPool,
  type WorkerPools,
} from "./worker-pools.ts";
import { dispatchWorkerTool, listWorkersTool } from "./worker-tools.ts";

export interface AgentsOptions extends Pick<
  ChildEnvironment,
  "models" | "instructions" | "system"
> {
  readonly catalog: AgentCatalog;
  /** `agents.child_timeout_ms` of the kernel's config: no child may take longer. */
  readonly childTimeoutMs: number;
  readonly pools?: readonly WorkerPool[];
  /** Without it, no worker can be dispatched. */
  readonly tasks?: TaskParts;
}

export interface Agents {
  /** For the kernel. */
  readonly source: ToolSource;
  /** For every conversation whose agents may start others. */
  readonly activeRuns: ActiveRuns;
  /** For conversations of an orchestrator: its tasks, in a few lines. */
  readonly board: RunBoard;
  /** For the task tools (TASK-5). */
  resolveCaller(ids: CallIds): TaskCaller;
  readonly workers: WorkerPools;
}

export function createAgents(options: AgentsOptions): Agents {
  const { catalog, childTimeoutMs, pools = [], tasks, models, instructions, system } = options;
  const activeRuns = createActiveRuns();
  const workers = createWorkerPools(pools);
  const parts: AgentParts = {
    catalog,
    childTimeoutMs,
    activeRuns,
    children: createChildRegistry(),
    workers,
    tasks,
    resolveCaller,
    ...omitUndefined({ models, instructions, system }),
  };
  return {
    source: {
      id: "agents",
      kind: "agent",
      tools: [
        listDefinitionsTool(parts),
        createSubAgentTool(parts),
        forkAgentTool(parts),
        listWorkersTool(parts),
        dispatchWorkerTool(parts),
        inspectAgentTool(parts),
        planTemplateTool(),
      ],
    },
    activeRuns,
    board: taskBoard(tasks?.tasks),
    resolveCaller,
    workers,
  };

  /** Who acts follows from the run alone. */
  function resolveCaller(ids: CallIds): TaskCaller {
    const active = activeRuns.find(ids);
    const { sessionId: session_id, runId: run_id, agentId: agent_id } = ids;
    if (active === undefined) {
      return { actor: { kind: "other", session_id, run_id, agent_id, role: "none" } };
    }
    const call = { tool_call_id: ids.toolCallId, tool_name: ids.toolName };
    const { recorder } = active.run;
    return {
      actor: actorOf(),
      readCalls: (run_ids) => readEarlierCalls(active.session.journal, run_ids),
      record(type, data) {
        if ("step_id" in data) workers.findByRun(run_id)?.touched.add(data.step_id);
        recorder.record(type, data, call);
      },
    };

    function actorOf(): TaskActor {
      const { role } = active?.run.identity ?? { role: "none" };
      const whose = { session_id, run_id, agent_id };
      if (role === "main" && active?.run.surface.mode === "orchestrator") {
        return { kind: "orchestrator", ...whose };
      }
      const work = role === "worker" ? workers.findByRun(run_id) : undefined;
      if (work === undefined) return { kind: "other", ...whose, role };
      return toWorkerActor(work);
    }
  }
}

const MOST_TASKS = 5;

/** The newest open task in full, the others in a line each. */
export function taskBoard(tasks: Tasks | undefined): RunBoard {
  return async (run) => {
    const { role, session_id } = run.identity;
    if (tasks === undefined || role !== "main" || run.surface.mode !== "orchestrator") {
      return undefined;
    }
    const [newest, ...others] = await tasks.reader.openTasks(session_id, MOST_TASKS);
    if (newest === undefined) return undefined;
    const whole = await tasks.reader.board(newest.task.task_id);
    const lines = others.map(
      ({ task: { task_id, title, status } }) =>
        `Task ${task_id} "${title.slice(0, 100)}" is ${status}.`,
    );
    return ["Your open tasks as they stand now:", whole ?? "", ...lines].join("\n");
  };
}
