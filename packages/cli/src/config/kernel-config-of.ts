// The part of the config that is the kernel's.

import type { ConfigInput } from "@soong/core";
import type { SoongConfig } from "./soong-config.ts";

export function kernelConfigOf({ tools, permissions, hooks, agents }: SoongConfig): ConfigInput {
  const {
    overrides: _o,
    env_allowlist: _e,
    write_roots: _w,
    tmp_dir: _t,
    sensitive_paths: _s,
    ...ofTools
  } = tools;
  const { max_turns: _m, worker_pools: _p, ...ofAgents } = agents;
  return {
    tools: ofTools,
    permissions: { ask_timeout_ms: permissions.ask_timeout_ms },
    hooks,
    agents: ofAgents,
  };
}
