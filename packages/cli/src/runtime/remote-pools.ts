// The pools of the config whose workers are processes of their own.

import type { SoongConfig } from "../config/index.ts";

export function listRemotePools({ agents }: Pick<SoongConfig, "agents">): string[] {
  return Object.entries(agents.worker_pools).flatMap(([name, { remote }]) =>
    remote ? [name] : [],
  );
}
