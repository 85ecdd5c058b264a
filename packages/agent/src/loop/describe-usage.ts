// Token use and cost in words, for a person: what is not known is said, and never shown as nothing (EVENT-7).

import { describeCost } from "../model/index.ts";
import type { UsageTotal } from "./usage.ts";

/** `3 requests, 1200 tokens in, 80 out, cost at least 0.0052 USD`; empty when no model was asked. */
export function describeUsage(usage: UsageTotal): string {
  const { requests, untold, unpriced, input_tokens, output_tokens, cost } = usage;
  if (requests === 0) return "";
  const atLeast = untold > 0 ? "at least " : "";
  const tokens =
    input_tokens === undefined && output_tokens === undefined
      ? "tokens unknown"
      : `${atLeast}${input_tokens ?? 0} tokens in, ${output_tokens ?? 0} out`;
  const costs = cost?.map(describeCost).join(" and ");
  const paid =
    costs === undefined ? "cost unknown" : `cost ${unpriced > 0 ? "at least " : ""}${costs}`;
  return `${requests} ${requests === 1 ? "request" : "requests"}, ${tokens}, ${paid}`;
}
