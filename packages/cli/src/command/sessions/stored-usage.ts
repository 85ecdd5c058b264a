// What stored runs used of models (EVENT-7). The last fact of a run says it; where a run has none, because it still works
// or was killed, its facts are read.

import { sumUsage, readEndUsage, reportUsage, type UsageTotal } from "@soong/agent";
import type { RunRecord, SessionReader } from "@soong/store";
import { readFactPages } from "../stored.ts";

export async function sumSessionUsage(
  reader: SessionReader,
  runs?: readonly RunRecord[],
): Promise<UsageTotal> {
  const totals: UsageTotal[] = [];
  for (const { run_id, last_seq } of runs ?? (await reader.runs())) {
    const [last] = await reader.facts({ after: last_seq - 1, limit: 1 });
    const reported = last?.run_id === run_id ? readEndUsage(last) : undefined;
    if (reported !== undefined) totals.push(reported);
    else {
      for await (const page of readFactPages(reader, { run_id })) {
        totals.push(reportUsage(page).session);
      }
    }
  }
  return sumUsage(totals);
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
  return sumSessionUsage(reader, runs);
}
