// What a run used of models, added up over its requests, without what its children used.

import type { Usage } from "../wire/index.ts";
import { countIn, dataIn, textIn, type Data } from "./read-data.ts";

export interface UsageSum {
  requests: number;
  unpriced: number;
  input_tokens?: number;
  output_tokens?: number;
  /** In millionths, by currency. */
  micros: ReadonlyMap<string, number>;
}

const NOTHING_USED: UsageSum = { requests: 0, unpriced: 0, micros: new Map() };

/** `data`: of a `model.completed` or `model.failed`. */
export function withRequest(before: UsageSum | undefined, data: Data): UsageSum {
  const sum = before ?? NOTHING_USED;
  const usage = dataIn(data["usage"]);
  const cost = costIn(data["cost"]);
  return {
    ...added(sum, usage),
    requests: sum.requests + 1,
    unpriced: sum.unpriced + (cost === undefined ? 1 : 0),
    micros: cost === undefined ? sum.micros : withCost(sum.micros, cost),
  };
}

/** What the end of a run says it used. */
export function toldUsage(usage: Data): UsageSum | undefined {
  const requests = countIn(usage, "requests");
  if (requests === undefined || requests === 0) return undefined;
  const costs = Array.isArray(usage["cost"]) ? usage["cost"].map(costIn) : [undefined];
  let sum: UsageSum = { ...added(NOTHING_USED, usage), requests };
  sum.unpriced = countIn(usage, "unpriced") ?? 0;
  for (const cost of costs) {
    if (cost === undefined) sum = { ...sum, unpriced: sum.unpriced + 1 };
    else sum = { ...sum, micros: withCost(sum.micros, cost) };
  }
  return sum;
}

function added(sum: UsageSum, usage: Data): UsageSum {
  const total = { ...sum };
  for (const count of ["input_tokens", "output_tokens"] as const) {
    const more = countIn(usage, count);
    if (more !== undefined) total[count] = (sum[count] ?? 0) + more;
  }
  return total;
}

function costIn(value: unknown): { currency: string; micros: number } | undefined {
  const cost = dataIn(value);
  const currency = textIn(cost, "currency");
  const micros = countIn(cost, "micros");
  return currency === undefined || micros === undefined ? undefined : { currency, micros };
}

function withCost(
  before: ReadonlyMap<string, number>,
  { currency, micros }: { currency: string; micros: number },
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
