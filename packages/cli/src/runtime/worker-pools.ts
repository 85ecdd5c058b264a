// The worker pools of the config: those whose workers are processes of their own, and those that can do nothing.

import type { AgentCatalog } from "@soong/agent";
import { nearestName } from "@soong/schema";
import type { SoongConfig } from "../config/index.ts";

export function listRemotePools({ agents }: Pick<SoongConfig, "agents">): string[] {
  return Object.entries(agents.worker_pools).flatMap(([name, { remote }]) =>
    remote ? [name] : [],
  );
}

/** By pool, why its agent cannot work on steps. */
export function findPoolProblems(
  { agents }: Pick<SoongConfig, "agents">,
  { definitions, startableAs }: Pick<AgentCatalog, "definitions" | "startableAs">,
): Map<string, string> {
  const problems = new Map<string, string>();
  const workers = startableAs("worker").map(({ id }) => id);
  for (const [name, { agent }] of Object.entries(agents.worker_pools)) {
    if (agent === undefined || workers.includes(agent)) continue;
    const near = nearestName(agent, workers);
    const hint =
      near === undefined
        ? `\`soong agents new ${agent} --roles worker\` writes one.`
        : `Did you mean ${near}?`;
    const what = definitions.has(agent)
      ? `the agent ${agent} cannot be a worker: add worker to the roles of its definition.`
      : `there is no agent ${agent}. ${hint}`;
    problems.set(name, `[agents.worker_pools.${name}] of config.toml: ${what}`);
  }
  return problems;
}
