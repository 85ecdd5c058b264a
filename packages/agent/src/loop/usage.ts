// Token use and cost (EVENT-7): added up over requests, and from the facts of a journal over runs, their children and
// the session. What a provider did not report and what has no price is counted as such: the sums are lower bounds.

import type { Fact } from "@soong/core";
import { type Cost, type ModelUsage, describeCost } from "../model/index.ts";

export interface UsageTotal extends ModelUsage {
  requests: number;
  /** Requests whose provider did not report both tokens in and out: the sums are lower bounds. */
  untold: number;
  /** Requests whose cost is not known: the costs are lower bounds. */
  unpriced: number;
  /** One for each currency; null when nothing is known, which is not nothing. */
  cost: readonly Cost[] | null;
}

export interface UsageReport {
  readonly session: UsageTotal;
  /** By run, with the use of the runs it started. */
  readonly runs: ReadonlyMap<string, UsageTotal>;
}

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
] as const;

export function emptyUsage(): UsageTotal {
  return { requests: 0, untold: 0, unpriced: 0, cost: null };
}

export function addUsage(
  total: UsageTotal,
  usage: ModelUsage | undefined,
  cost: Cost | null,
): void {
  total.requests += 1;
  if (!isCount(usage?.input_tokens) || !isCount(usage.output_tokens)) total.untold += 1;
  addCounts(total, usage);
  if (cost === null) total.unpriced += 1;
  else total.cost = addCost(total.cost ?? [], cost);
}

/** Of several totals, such as those that runs ended with. */
export function sumUsage(totals: Iterable<UsageTotal>): UsageTotal {
  const sum = emptyUsage();
  for (const total of totals) {
    sum.requests += total.requests;
    sum.untold += total.untold;
    sum.unpriced += total.unpriced;
    for (const one of total.cost ?? []) sum.cost = addCost(sum.cost ?? [], one);
    addCounts(sum, total);
  }
  return sum;
}

function addCounts(sum: ModelUsage, usage: ModelUsage = {}): void {
  for (const count of COUNTS) {
    const more = usage[count];
    if (isCount(more)) sum[count] = (sum[count] ?? 0) + more;
  }
}

/** What a run's last fact says it used; undefined where it says nothing that can be read as such. */
export function readEndUsage({ type, data }: Fact): UsageTotal | undefined {
  if (type !== "run.completed" && type !== "run.failed" && type !== "run.aborted") return undefined;
  const { usage } = data;
  if (typeof usage !== "object" || usage === null) return undefined;
  const { requests, untold, unpriced, cost } = usage;
  if (!isCount(requests) || !isCount(untold) || !isCount(unpriced)) return undefined;
  if (cost !== null && !(Array.isArray(cost) && cost.every(isCost))) return undefined;
  const total: UsageTotal = { requests, untold, unpriced, cost };
  addCounts(total, usage);
  return total;
}

/** From the journal alone; any order, any part of it. */
export function reportUsage(facts: Iterable<Fact>): UsageReport {
  const session = emptyUsage();
  const runs = new Map<string, UsageTotal>();
  const parents = new Map<string, string>();
  const requests: { run_id: string; usage: ModelUsage | undefined; cost: Cost | null }[] = [];
  for (const fact of facts) {
    const { run_id, parent_run_id } = fact;
    if (run_id === undefined) continue;
    if (parent_run_id !== undefined) parents.set(run_id, parent_run_id);
    if (fact.type !== "model.completed" && fact.type !== "model.failed") continue;
    const { usage, cost } = fact.data;
    requests.push({ run_id, usage, cost: isCost(cost) ? cost : null });
  }
  for (const { run_id, usage, cost } of requests) {
    addUsage(session, usage, cost);
    const seen = new Set<string>();
    for (let at: string | undefined = run_id; at !== undefined; at = parents.get(at)) {
      // A loop of parents is no tree, but it must not hold us up.
      if (seen.has(at)) break;
      seen.add(at);
      const total = runs.get(at) ?? emptyUsage();
      runs.set(at, total);
      addUsage(total, usage, cost);
    }
  }
  return { session, runs };
}

function addCost(costs: readonly Cost[], { currency, micros }: Cost): readonly Cost[] {
  const before = costs.find((cost) => cost.currency === currency);
  if (before === undefined) return [...costs, { currency, micros }];
  const sum = { currency, micros: before.micros + micros };
  return costs.map((cost) => (cost === before ? sum : cost));
}

function isCost(value: unknown): value is Cost {
  if (typeof value !== "object" || value === null) return false;
  const { currency, micros } = value as Partial<Cost>;
  return typeof currency === "string" && isCount(micros);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** `3 requests, 1200 tokens in, 80 out, cost at least 0.0052 USD`; empty when no model was asked. */
export function describeUsage(usage: UsageTotal): string {
  const { requests, untold, input_tokens, output_tokens } = usage;
  if (requests === 0) return "";
  const atLeast = untold > 0 ? "at least " : "";
  const tokens =
    input_tokens === undefined && output_tokens === undefined
      ? "tokens unknown"
      : `${atLeast}${input_tokens ?? 0} tokens in, ${output_tokens ?? 0} out`;
  return `${requests} ${requests === 1 ? "request" : "requests"}, ${tokens}, ${describeUsageCost(usage)}`;
}

/** `cost at least 0.0052 USD`; empty when no model was asked. */
export function describeUsageCost({ requests, unpriced, cost }: UsageTotal): string {
  if (requests === 0) return "";
  const costs = cost?.map(describeCost).join(" and ");
  return costs === undefined ? "cost unknown" : `cost ${unpriced > 0 ? "at least " : ""}${costs}`;
}
