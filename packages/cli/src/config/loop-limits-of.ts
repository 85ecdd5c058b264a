// The part of the config that is the loop's.

import type { LoopLimits } from "@soong/agent";
import { omitUndefined } from "@soong/core/internal";
import type { SoongConfig } from "./soong-config.ts";

/** How long an abort waits is nobody's to set. */
type LoopSettings = Omit<LoopLimits, "abort_wait_ms">;

export function loopLimitsOf({ model, agents, context }: SoongConfig): LoopSettings {
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
    budget: budgetOf(model.budget),
  };
}

function budgetOf({
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
