// What kept runs used of models (EVENT-7). The last fact of a run says it; where a run has none, because it still works
// or was killed, its facts are read.

import { sumUsage, readEndUsage, reportUsage, type UsageTotal } from "@soong/agent";
import type { RunRecord, SessionReader } from "@soong/store";

const PAGE = 500;

export async function sumSessionUsage(reader: SessionReader): Promise<UsageTotal> {
  return usageOfRuns(reader, await reader.runs());
}

/** Of a run and all it started. */
export async function sumRunUsage(reader: SessionReader, run_id: string): Promise<UsageTotal> {
  const wanted = new Set([run_id]);
  // A child comes after its parent.
  const runs = (await reader.runs()).filter((run) => {
    const isOfIt = wanted.has(run.run_id) || wanted.has(run.parent_run_id ?? "");
    if (isOfIt) wanted.add(run.run_id);
    return isOfIt;
  });
  return usageOfRuns(reader, runs);
}

async function usageOfRuns(reader: SessionReader, runs: readonly RunRecord[]): Promise<UsageTotal> {
  const totals: UsageTotal[] = [];
  for (const { run_id, last_seq } of runs) {
    const [last] = await reader.facts({ after: last_seq - 1, limit: 1 });
    const told = last?.run_id === run_id ? readEndUsage(last) : undefined;
    totals.push(told ?? (await usageFromFacts(reader, run_id)));
  }
  return sumUsage(totals);
}

async function usageFromFacts(reader: SessionReader, run_id: string): Promise<UsageTotal> {
  const totals: UsageTotal[] = [];
  let after = 0;
  for (;;) {
    const facts = await reader.facts({ run_id, after, limit: PAGE });
    totals.push(reportUsage(facts).session);
    after = facts.at(-1)?.seq ?? after;
    if (facts.length < PAGE) return sumUsage(totals);
  }
}
