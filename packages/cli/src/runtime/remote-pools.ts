// The pools of the config whose workers are processes of their own, and what of this home does not reach them.

import type { AnyHook } from "@soong/core";
import { isGuard } from "@soong/core/internal";
import type { SoongConfig } from "../config/index.ts";

export function listRemotePools({ agents }: Pick<SoongConfig, "agents">): string[] {
  return Object.entries(agents.worker_pools).flatMap(([name, { remote }]) =>
    remote ? [name] : [],
  );
}

/** Hooks are programs of the home that dispatches; a worker has those of its own. */
export function describeLocalGuards(
  hooks: readonly Pick<AnyHook, "id" | "event">[],
  { agents }: Pick<SoongConfig, "agents">,
): string[] {
  const guards = hooks.filter(({ event }) => isGuard(event)).map(({ id }) => id);
  const pools = listRemotePools({ agents });
  if (guards.length === 0 || pools.length === 0) return [];
  return [
    `hooks.json: ${guards.join(", ")} guards calls of this process, not those of remote workers (${pools.join(", ")}); give their homes the same hooks, or use a rule.`,
  ];
}
