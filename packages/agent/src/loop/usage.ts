// Token use and cost (EVENT-7): added up over requests, and from the facts of a journal over runs, their children and
// the session. What a provider did not report and what has no price is counted as such: the sums are lower bounds.

import { isRecord } from "@soong/schema";
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
  for (const total of totals) chargeUsage(sum, total);
  return sum;
}

/** Adds to an account that others add to as well. */
export function chargeUsage(account: UsageTotal, used: UsageTotal): void {
  account.requests += used.requests;
  account.untold += used.untold;
  account.unpriced += used.unpriced;
  for (const one of used.cost ?? []) account.cost = addCost(account.cost ?? [], one);
  addCounts(account, used);
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
  return readTotal(data.usage);
}

/** What a worker that is a process of its own used, in its own session: the last fact about it says so. Undefined for others. */
function readRemoteUsage(fact: Fact): UsageTotal | undefined {
  const { type, data } = fact;
  if (
    type !== "agent.child.completed" &&
    type !== "agent.child.failed" &&
    type !== "agent.child.cancelled"
  ) {
    return undefined;
  }
  return data.child_session_id === undefined ? undefined : readTotal(data.usage);
}

function readTotal(usage: UsageTotal | undefined): UsageTotal | undefined {
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
  const used: { run_id: string; total: UsageTotal }[] = [];
  for (const fact of facts) {
    const { run_id, parent_run_id } = fact;
    if (run_id === undefined) continue;
    if (parent_run_id !== undefined) parents.set(run_id, parent_run_id);
    const total = readRequestUsage(fact) ?? readRemoteUsage(fact);
    if (total !== undefined) used.push({ run_id, total });
  }
  for (const { run_id, total: more } of used) {
    chargeUsage(session, more);
    const seen = new Set<string>();
    for (let at: string | undefined = run_id; at !== undefined; at = parents.get(at)) {
      // A loop of parents is no tree, but it must not hold us up.
      if (seen.has(at)) break;
      seen.add(at);
      const total = runs.get(at) ?? emptyUsage();
      runs.set(at, total);
      chargeUsage(total, more);
    }
  }
  return { session, runs };
}

function readRequestUsage(fact: Fact): UsageTotal | undefined {
  if (fact.type !== "model.completed" && fact.type !== "model.failed") return undefined;
  const { usage, cost } = fact.data;
  const total = emptyUsage();
  addUsage(total, isRecord(usage) ? usage : undefined, isCost(cost) ? cost : null);
  return total;
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
