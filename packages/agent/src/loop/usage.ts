// Token use (EVENT-7): added up over requests, and from the facts of a journal over runs, their children and the
// session. What a provider did not tell is counted as not told; prices are not known here, and stay so.

import type { Fact } from "@soong/core";
import type { ModelUsage } from "../model/index.ts";

export interface UsageTotal extends ModelUsage {
  requests: number;
  /** Requests whose provider did not tell both tokens in and out: the sums are at least what they say. */
  untold: number;
  cost: "unknown";
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

export function noUsage(): UsageTotal {
  return { requests: 0, untold: 0, cost: "unknown" };
}

export function addUsage(total: UsageTotal, usage: ModelUsage | undefined): void {
  total.requests += 1;
  const told = COUNTS.filter((count) => isCount(usage?.[count]));
  if (!told.includes("input_tokens") || !told.includes("output_tokens")) total.untold += 1;
  for (const count of told) total[count] = (total[count] ?? 0) + (usage?.[count] ?? 0);
}

/** From the journal alone; any order, any part of it. */
export function usageOf(facts: Iterable<Fact>): UsageReport {
  const session = noUsage();
  const runs = new Map<string, UsageTotal>();
  const parents = new Map<string, string>();
  const requests: { run_id: string; usage: ModelUsage | undefined }[] = [];
  for (const { type, run_id, parent_run_id, data } of facts) {
    if (run_id === undefined) continue;
    if (parent_run_id !== undefined) parents.set(run_id, parent_run_id);
    if (type !== "model.completed" && type !== "model.failed") continue;
    requests.push({ run_id, usage: data["usage"] as ModelUsage | undefined });
  }
  for (const { run_id, usage } of requests) {
    addUsage(session, usage);
    const seen = new Set<string>();
    for (let at: string | undefined = run_id; at !== undefined; at = parents.get(at)) {
      // A loop of parents is no tree, but it must not hold us up.
      if (seen.has(at)) break;
      seen.add(at);
      const total = runs.get(at) ?? noUsage();
      runs.set(at, total);
      addUsage(total, usage);
    }
  }
  return { session, runs };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
