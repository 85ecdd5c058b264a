// The part of the config that is the loop's.

import type { SoongConfig } from "./soong-config.ts";

export interface LoopSettings {
  readonly max_turns: number;
  readonly max_output_tokens: number | undefined;
  readonly context_tokens: number | undefined;
  readonly retries: number;
  readonly idle_timeout_ms: number;
  readonly max_retry_after_ms: number;
}

export function loopLimitsOf({ model, agents, context }: SoongConfig): LoopSettings {
  const { max_output_tokens, retries, idle_timeout_ms, max_retry_after_ms } = model;
  return {
    max_turns: agents.max_turns,
    max_output_tokens,
    context_tokens: context.max_tokens,
    retries,
    idle_timeout_ms,
    max_retry_after_ms,
  };
}
