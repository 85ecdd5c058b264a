// Agents as tools: knows the definitions, the worker pools and the active runs, and gives the loop its run registry, the
// kernel its tools, and the task tools their callers.

import type { CallIds, ToolSource } from "@soong/core";
import type { TaskActor, TaskCaller, Tasks } from "@soong/tasks";
import type { RunBoard, RunEnd } from "../loop/index.ts";
import type { AgentCatalog } from "./agent-catalog.ts";
import { ChildRegistry, createActiveRuns, type ActiveRuns } from "./active-runs.ts";
import { dispatchWorkerTool, listWorkersTool } from "./dispatch-worker.ts";
import { inspectAgentTool, listDefinitionsTool, readEarlierCalls } from "./inspect-tools.ts";
import type { AgentParts } from "./run-child.ts";
import { planTemplateTool, spawnTool } from "./spawn-tools.ts";
import { workOnStep, type ClaimedWork, type WorkPlace } from "./work-on-step.ts";
import {
  createWorkerPools,
  toWorkerActor,
  type WorkerPool,
  type WorkerPools,
} from "./worker-pools.ts";

export interface AgentsOptions extends Omit<
  AgentParts,
  "activeRuns" | "children" | "workers" | "resolveCaller"
> {
  readonly pools?: readonly WorkerPool[];
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
  readonly catalog: AgentCatalog;
  /** A step that was dispatched on another machine. */
  workOnStep(claimed: ClaimedWork, place: WorkPlace): Promise<RunEnd>;
}

export function createAgents({ pools = [], ...options }: AgentsOptions): Agents {
  const activeRuns = createActiveRuns();
  const workers = createWorkerPools(pools);
  const children = new ChildRegistry();
  const parts: AgentParts = { ...options, activeRuns, children, workers, resolveCaller };
  return {
    source: {
      id: "agents",
      kind: "agent",
      tools: [
        listDefinitionsTool(parts),
        spawnTool(parts, "sub"),
        spawnTool(parts, "fork"),
        listWorkersTool(parts),
        dispatchWorkerTool(parts),
        inspectAgentTool(parts),
        planTemplateTool(),
      ],
    },
    activeRuns,
    board: taskBoard(options.tasks?.tasks),
    resolveCaller,
    workers,
    catalog: options.catalog,
    workOnStep(claimed, place) {
      if (options.tasks === undefined) throw new TypeError("there are no tasks to work on");
      return workOnStep(parts, options.tasks, claimed, place);
    },
  };

  /** Who acts follows from the run alone. */
  function resolveCaller(ids: CallIds): TaskCaller {
    const active = activeRuns.find(ids);
    const { sessionId: session_id, runId: run_id, agentId: agent_id } = ids;
    if (active === undefined) {
      return { actor: { kind: "other", session_id, run_id, agent_id, role: "none" } };
    }
    const { session, run } = active;
    const call = { tool_call_id: ids.toolCallId, tool_name: ids.toolName };
    return {
      actor: resolveActor(),
      readCalls: (run_ids) => readEarlierCalls(session.journal, run_ids),
      record(type, data) {
        if ("step_id" in data) workers.findByRun(run_id)?.touched.add(data.step_id);
        run.recorder.record(type, data, call);
      },
    };

    function resolveActor(): TaskActor {
      const { role } = run.identity;
      const whose = { session_id, run_id, agent_id };
      if (role === "main" && run.surface.mode === "orchestrator") {
        return { kind: "orchestrator", ...whose };
      }
      const work = role === "worker" ? workers.findByRun(run_id) : undefined;
      return work === undefined ? { kind: "other", ...whose, role } : toWorkerActor(work);
    }
  }
}

const MOST_TASKS = 5;

/** The newest open task in full, the others in a line each. */
function taskBoard(tasks: Tasks | undefined): RunBoard {
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
