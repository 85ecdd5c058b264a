// What a run used of models, added up over its requests, without what its children used.

import type { Cost, ModelEndData, ModelUsage, UsageTotal } from "@soong/agent";
import type { Usage } from "../wire/index.ts";

export interface UsageSum {
  requests: number;
  unpriced: number;
  input_tokens?: number;
  output_tokens?: number;
  /** In millionths, by currency. */
  micros: ReadonlyMap<string, number>;
}

const NOTHING_USED: UsageSum = { requests: 0, unpriced: 0, micros: new Map() };

export function withRequest(before: UsageSum | undefined, request: ModelEndData): UsageSum {
  const sum = before ?? NOTHING_USED;
  const { usage = {}, cost } = request;
  return {
    ...added(sum, usage),
    requests: sum.requests + 1,
    unpriced: sum.unpriced + (cost ? 0 : 1),
    micros: cost ? withCost(sum.micros, cost) : sum.micros,
  };
}

/** What the end of a run says it used. */
export function recordedUsage(usage: UsageTotal): UsageSum | undefined {
  const { requests, unpriced, cost } = usage;
  if (requests === 0) return undefined;
  return {
    ...added(NOTHING_USED, usage),
    requests,
    unpriced: unpriced + (cost === null ? 1 : 0),
    micros: (cost ?? []).reduce(withCost, NOTHING_USED.micros),
  };
}

function added(sum: UsageSum, usage: ModelUsage): UsageSum {
  const total = { ...sum };
  for (const count of ["input_tokens", "output_tokens"] as const) {
    const more = usage[count];
    if (more !== undefined) total[count] = (sum[count] ?? 0) + more;
  }
  return total;
}

function withCost(
  before: ReadonlyMap<string, number>,
  { currency, micros }: Cost,
): ReadonlyMap<string, number> {
  return new Map(before).set(currency, (before.get(currency) ?? 0) + micros);
}

/** Without a cost unless all of it is known, in one currency. */
export function usageOf({ requests, unpriced, micros, ...tokens }: UsageSum): Usage {
  const [cost, ...others] = micros;
  const isKnown = unpriced === 0 && cost !== undefined && others.length === 0;
  return {
    requests,
    ...tokens,
    ...(isKnown ? { cost: cost[1] / 1_000_000, currency: cost[0] } : { cost: null }),
  };
}
