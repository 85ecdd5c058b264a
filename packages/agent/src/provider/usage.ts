// Token counts as each version of the AI SDK's model interface tells them; what is not told is left out.

import type { ModelUsage } from "../model/index.ts";

export function usageOf(given: unknown): ModelUsage {
  const usage = recordOf(given);
  const input = recordOf(usage["inputTokens"]);
  const output = recordOf(usage["outputTokens"]);
  const counts: Readonly<Record<keyof ModelUsage, unknown>> = {
    input_tokens: input["total"] ?? usage["inputTokens"],
    output_tokens: output["total"] ?? usage["outputTokens"],
    cache_read_tokens: input["cacheRead"] ?? usage["cachedInputTokens"],
    cache_write_tokens: input["cacheWrite"],
    reasoning_tokens: output["reasoning"] ?? usage["reasoningTokens"],
  };
  return Object.fromEntries(
    Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count)),
  );
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
