// Token counts as each version of the AI SDK's model interface tells them; what is not told is left out.

import { asRecord } from "@soong/core/internal";
import type { ModelUsage } from "../model/index.ts";

export function readProviderUsage(given: unknown): ModelUsage {
  const usage = asRecord(given);
  const input = asRecord(usage["inputTokens"]);
  const output = asRecord(usage["outputTokens"]);
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
