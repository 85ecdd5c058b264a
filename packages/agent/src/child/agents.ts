// The child room's front door: agents as tools. It knows the definitions, the pools and who sits in which run, and gives
// the loop its seats, the kernel its tools, and the task tools their callers.

import type { CallIds, ToolSource } from "@soong/core";
import { omitUndefined } from "@soong/core/internal";
import type { RunBoard } from "../loop/index.ts";
import type { TaskActor, TaskCaller } from "@soong/tasks";
import type { AgentCatalog } from "./agent-catalog.ts";
import type { AgentParts, TaskParts } from "./agent-parts.ts";
import { createChildBook } from "./child-book.ts";
import type { ChildSurroundings } from "./child-run.ts";
import { earlierCalls } from "./earlier-calls.ts";
import { inspectAgentTool, listDefinitionsTool } from "./looking-tools.ts";
import { planTemplateTool } from "./plan-template.ts";
import { createSeats, type Seats } from "./seats.ts";
import { createSubAgentTool, forkAgentTool } from "./starter-tools.ts";
import { taskBoard } from "./task-board.ts";
import {
  createWorkerPools,
  workerActor,
  type WorkerPool,
  type WorkerPools,
} from "./worker-pools.ts";
import { dispatchWorkerTool, listWorkersTool } from "./worker-tools.ts";

export interface AgentsOptions extends Pick<
  ChildSurroundings,
  "models" | "instructions" | "system"
> {
  readonly catalog: AgentCatalog;
  /** `agents.child_timeout_ms` of the kernel's config: no child may take longer. */
  readonly childTimeoutMs: number;
  readonly pools?: readonly WorkerPool[];
  /** Left out: there is nothing workers could be dispatched to. */
  readonly tasks?: TaskParts;
}

export interface Agents {
  /** For the kernel. */
  readonly source: ToolSource;
  /** For every conversation whose agents may start others. */
  readonly seats: Seats;
  /** For conversations of an orchestrator: its tasks, in a few lines. */
  readonly board: RunBoard;
  /** For the task tools (TASK-5). */
  callerOf(ids: CallIds): TaskCaller;
  readonly workers: WorkerPools;
}

export function createAgents(options: AgentsOptions): Agents {
  const { catalog, childTimeoutMs, pools = [], tasks, models, instructions, system } = options;
  const seats = createSeats();
  const workers = createWorkerPools(pools);
  const parts: AgentParts = {
    catalog,
    childTimeoutMs,
    seats,
    book: createChildBook(),
    workers,
    tasks,
    callerOf,
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
    seats,
    board: taskBoard(tasks?.tasks),
    callerOf,
    workers,
  };

  /** Who acts follows from the run alone. */
  function callerOf(ids: CallIds): TaskCaller {
    const seat = seats.find(ids);
    const { sessionId: session_id, runId: run_id, agentId: agent_id } = ids;
    if (seat === undefined) {
      return { actor: { kind: "nobody", session_id, run_id, agent_id, role: "none" } };
    }
    const call = { tool_call_id: ids.toolCallId, tool_name: ids.toolName };
    const { recorder } = seat.run;
    return {
      actor: actorOf(),
      callsOf: (run_ids) => earlierCalls(seat.session.journal, run_ids),
      record(type, data) {
        if ("step_id" in data) workers.ofRun(run_id)?.touched.add(data.step_id);
        recorder.record(type, data, call);
      },
    };

    function actorOf(): TaskActor {
      const { role } = seat?.run.identity ?? { role: "none" };
      const whose = { session_id, run_id, agent_id };
      if (role === "main" && seat?.run.surface.mode === "orchestrator") {
        return { kind: "orchestrator", ...whose };
      }
      const work = role === "worker" ? workers.ofRun(run_id) : undefined;
      if (work === undefined) return { kind: "nobody", ...whose, role };
      return workerActor(work);
    }
  }
}
