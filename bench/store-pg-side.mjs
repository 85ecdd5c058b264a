// One side of a cluster, as the command sets it up: tasks on the store, agents with one pool, and a kernel with their tools.

import { createAgents, loadAgentCatalog } from "@soong/agent";
import { createKernel, defineTool } from "@soong/core";
import { createClaimKeeper, createTasks, taskTools } from "@soong/tasks";
import { openJobQueue } from "@soong/worker";

/**
 * @import { RemoteWorkers, WorkerPool } from "@soong/agent"
 * @import { PolicyInput } from "@soong/core"
 * @import { Store } from "@soong/store"
 * @import { Tasks } from "@soong/tasks"
 */

export const POOL = "builders";
export const WAIT_TOOL = "bench.wait";
/** @type {PolicyInput} */
export const POLICY = { rules: [{ tool: "*", decision: "allow" }] };

/**
 * @param {object} given
 * @param {string} given.url
 * @param {Store} given.store
 * @param {Omit<WorkerPool, "name">} given.pool
 * @param {(tasks: Tasks, queue: ReturnType<typeof openJobQueue>) => RemoteWorkers} [given.remote]
 * @param {() => void} [given.onWait]  a call of the tool that waits has begun
 */
export async function openSide({ url, store, pool, remote, onWait = () => {} }) {
  const tasks = createTasks({ storage: store.tasks() });
  const keeper = createClaimKeeper({ tasks });
  const queue = openJobQueue(url);
  const agents = createAgents({
    catalog: await loadAgentCatalog(),
    childTimeoutMs: 60_000,
    pools: [{ ...pool, name: POOL }],
    tasks: { tasks, keeper },
    ...(remote && { remote: remote(tasks, queue) }),
  });
  const kernel = createKernel({
    tools: [
      defineTool({
        name: WAIT_TOOL,
        description: "Waits until it is cancelled.",
        input_schema: { type: "object", properties: {}, additionalProperties: false },
        permission: "readonly",
        concurrency_safe: true,
        handler: (_input, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve({}), { once: true });
            onWait();
          }),
      }),
    ],
    sources: [
      agents.source,
      taskTools({ tasks, keeper, resolveCaller: (ids) => agents.resolveCaller(ids) }),
    ],
  });
  return { tasks, keeper, agents, kernel, queue: await queue };
}
