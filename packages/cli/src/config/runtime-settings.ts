// The parts of the config that other parts of the program take: the kernel, and the loop.

import type { LoopLimits } from "@soong/agent";
import type { ConfigInput } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { SoongConfig } from "./soong-config.ts";

/** How long an abort waits is nobody's to set. */
type LoopSettings = Omit<LoopLimits, "abort_wait_ms">;

export function buildLoopLimits({ model, agents, context }: SoongConfig): LoopSettings {
  const { max_output_tokens, retries, idle_timeout_ms, max_retry_after_ms } = model;
  const { max_answer_ms, max_answer_bytes } = model;
  return {
    max_turns: agents.max_turns,
    max_output_tokens,
    context_tokens: context.max_tokens,
    instruction_bytes: 4 * context.instruction_limit_bytes,
    retries,
    idle_timeout_ms,
    max_answer_ms,
    max_answer_bytes,
    max_retry_after_ms,
    budget: buildBudget(model.budget),
  };
}

function buildBudget({
  max_tokens,
  max_cost,
  currency,
}: SoongConfig["model"]["budget"]): LoopSettings["budget"] {
  if (max_tokens === undefined && max_cost === undefined) return undefined;
  return {
    ...omitUndefined({ tokens: max_tokens }),
    ...(max_cost === undefined
      ? {}
      : { cost: { currency, micros: Math.round(max_cost * 1_000_000) } }),
  };
}

export function pickKernelConfig({ tools, permissions, hooks, agents }: SoongConfig): ConfigInput {
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
