// Checks whether this machine can do a job: same definition, tools that its config allows the pool, hooks and models.

import {
  digestDefinition,
  findToolsBeyond,
  skipsMissingTools,
  type WorkerPool,
} from "@soong/agent";
import { messageOf } from "@soong/core";
import { findMissingGuard, type JobWork } from "../dispatch/index.ts";
import type { WorkerHost } from "./worker-host.ts";

/**
 * Returns why not, as a clause. Anyone who can write to the queue can put anything into a job, so this machine's own config of the
 * pool bounds it.
 */
export async function findMismatch(
  host: WorkerHost,
  work: JobWork,
  pool: WorkerPool,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { agent_definition_id: id, allowed_tools: asked = host.defaultTools() } = work;
  const { name, agent_definition_id: own = id } = pool;
  const definition = host.agents.catalog.definitions.get(id);
  if (definition === undefined) {
    return `there is no agent definition ${id} on this worker. Give all machines the same file, and start this worker again.`;
  }
  if (digestDefinition(definition) !== work.definition_digest) {
    return `the agent definition ${id} is not the dispatcher's on this worker. Give all machines the same file, and start this worker again.`;
  }
  if (id !== own) {
    return `the step is for the agent ${id}, and the pool ${name} has ${own} on this worker. Give all machines the same config, and start this worker again.`;
  }
  // Servers are connected on demand, and may have been unreachable before.
  if (findUnknownTools(host, asked) !== undefined) await host.toolProvider?.ready(signal);
  for (const [most, whose] of [
    [pool.allowed_tools, `the pool ${name}`],
    [definition.allowed_tools, `the agent ${id}`],
  ] as const) {
    const beyond = most && findToolsBeyond(most, asked, (tool) => host.canonicalTool(tool));
    if (most === undefined || beyond?.length === 0) continue;
    return `the step may use ${beyond?.join(", ")}, and ${whose} allows ${most.length === 0 ? "none" : `only ${most.join(", ")}`} on this worker. Give all machines the same config, and start this worker again.`;
  }
  const unknown = skipsMissingTools(definition, asked) ? undefined : findUnknownTools(host, asked);
  const lacking = unknown ?? findMissingGuard(work.guards, host.guards);
  if (lacking !== undefined) return lacking;
  const model = work.model ?? definition.model;
  if (model === undefined) return undefined;
  try {
    await host.checkModel(model);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A run with an unknown tool would fail at once and use up an attempt. */
function findUnknownTools(host: WorkerHost, asked: readonly string[]): string | undefined {
  const unknown = asked.filter((name) => !name.includes("*") && !host.hasTool(name));
  if (unknown.length === 0) return undefined;
  return `the step may use ${unknown.join(", ")}, and there is no such tool on this worker. Add it, or remove it from the pool's allowed_tools.`;
}
