// An orchestrator with tasks and a pool of workers.

import { randomIds, type Clock, type HeldClock } from "@soong/core";
import type { Agents, RemoteWorkers, Script, WorkerPool } from "@soong/agent";
import {
  createClaimKeeper,
  createMemoryTasks,
  createTasks,
  taskTools,
  type ClaimKeeper,
  type Tasks,
} from "@soong/tasks";
import { openAgentStage, type AgentStage, type AgentStageOptions } from "./agent-stage.ts";

export interface WorkerStage extends AgentStage {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
}

export const POOL: WorkerPool = { name: "hands", size: 2 };
/** What the script calls the task that is made first. */
export const TASK = "task_1";

export async function openWorkerStage(
  script: Script,
  {
    pools = [POOL],
    remote,
    ...options
  }: AgentStageOptions & { pools?: readonly WorkerPool[]; remote?: RemoteWorkers } = {},
): Promise<WorkerStage> {
  const holder: { clock?: HeldClock; agents?: Agents } = {};
  const clock: Clock = {
    now: () => (holder.clock as HeldClock).now(),
    monotonic: () => (holder.clock as HeldClock).monotonic(),
    after: (ms, callback) => (holder.clock as HeldClock).after(ms, callback),
  };
  let made = 0;
  const random = randomIds();
  const ids = {
    next: (kind: string) => (kind === "task" ? `task_${(made += 1)}` : random.next(kind)),
  };
  const tasks = createTasks({ storage: createMemoryTasks(), clock, ids, leaseMs: 60_000 });
  const keeper = createClaimKeeper({ tasks, clock });
  const stage = await openAgentStage(script, {
    ...options,
    run: { mode: "orchestrator", ...options.run },
    more: () => ({ pools, tasks: { tasks, keeper }, ...(remote !== undefined && { remote }) }),
    sources: [
      taskTools({
        tasks,
        keeper,
        resolveCaller: (call) => (holder.agents as Agents).resolveCaller(call),
      }),
      ...(options.sources ?? []),
    ],
  });
  holder.clock = stage.clock;
  holder.agents = stage.agents;
  return { ...stage, tasks, keeper };
}

/** The orchestrator's first turn. */
export function newTask(...steps: readonly (string | readonly [string, readonly string[]])[]) {
  return {
    calls: [
      {
        tool: "agent.task_create",
        input: {
          title: "The work",
          goal: "It is done.",
          steps: steps.map((step) => {
            const [step_id, depends_on] = typeof step === "string" ? [step, []] : step;
            return { step_id, title: `Do ${step_id}`, instructions: "As said.", depends_on };
          }),
        } as never,
      },
    ],
  };
}

export function dispatch(input: object) {
  return {
    tool: "agent.dispatch_worker",
    input: { pool: "hands", task_id: TASK, ...input } as never,
  };
}

export const BEGINS = {
  calls: [{ tool: "agent.task_update_step", input: { status: "running" } }],
};
export const COMPLETES = {
  calls: [{ tool: "agent.task_update_step", input: { status: "completed", summary: "It is." } }],
};
