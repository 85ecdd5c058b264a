// What stored runs used of models (EVENT-7). The last fact of a run says it; where a run has none, because it still works
// or was killed, the ends of its requests are read.

import { sumUsage, readEndUsage, reportUsage, type UsageTotal } from "@soong/agent";
import type { Fact, FactType } from "@soong/core";
import type { SessionReader, Store } from "@soong/store";
import { readSound } from "./read-sound.ts";

type UsageFacts = Pick<Store, "lastFacts" | "factsOfTypes">;

/** By session; none for a session without runs. `ends`: the last facts of their runs. */
export async function sumSessionUsage(
  store: Pick<UsageFacts, "factsOfTypes">,
  ends: readonly Fact[],
): Promise<ReadonlyMap<string, UsageTotal>> {
  return sumBySession(await readRunUsage(store, ends));
}

/** By session: what its requests used that ended from that time on. */
export async function sumUsageSince(
  store: UsageFacts & Pick<Store, "runs">,
  session_ids: readonly string[],
  since: string,
): Promise<ReadonlyMap<string, UsageTotal>> {
  const runs = await store.runs(session_ids);
  const over = new Set<string>();
  const begun = new Set<string>();
  for (const { run_id, started_at, ended_at = since } of runs) {
    if (ended_at < since) over.add(run_id);
    else if (started_at < since) begun.add(run_id);
  }
  const { facts: ends } = await readSound(session_ids, (ids) => store.lastFacts(ids));
  const counted = ends.filter(({ run_id = "" }) => !over.has(run_id));
  return sumBySession(await readRunUsage(store, counted, { since, begun }));
}

function sumBySession(runs: readonly RunUsage[]): ReadonlyMap<string, UsageTotal> {
  const totals = new Map<string, UsageTotal[]>();
  for (const { session_id, usage } of runs) {
    const ofRuns = totals.get(session_id) ?? [];
    totals.set(session_id, ofRuns);
    ofRuns.push(usage);
  }
  return new Map([...totals].map(([session_id, ofRuns]) => [session_id, sumUsage(ofRuns)]));
}

/** Of a run and all it started. */
export async function sumRunUsage(
  store: UsageFacts,
  reader: Pick<SessionReader, "session_id" | "runs">,
  run_id: string,
): Promise<UsageTotal> {
  const wanted = new Set([run_id]);
  // A child comes after its parent.
  for (const run of await reader.runs()) {
    if (wanted.has(run.parent_run_id ?? "")) wanted.add(run.run_id);
  }
  const used = await readRunUsage(store, await store.lastFacts([reader.session_id]));
  return sumUsage(used.flatMap((run) => (wanted.has(run.run_id) ? [run.usage] : [])));
}

/** Requests, and workers that are processes of their own. */
const USED = [
  "model.completed",
  "model.failed",
  "agent.child.completed",
  "agent.child.failed",
  "agent.child.cancelled",
] as const satisfies readonly FactType[];

interface RunUsage {
  readonly session_id: string;
  readonly run_id: string;
  readonly usage: UsageTotal;
}

/** Only requests from a time on; of runs that had `begun` before it, their last fact counts too much. */
interface UsageWindow {
  readonly since: string;
  readonly begun: ReadonlySet<string>;
}

async function readRunUsage(
  store: Pick<UsageFacts, "factsOfTypes">,
  ends: readonly Fact[],
  window?: UsageWindow,
): Promise<readonly RunUsage[]> {
  const used: RunUsage[] = [];
  const unreported = new Map<string, { readonly session_id: string; readonly facts: Fact[] }>();
  for (const fact of ends) {
    const { session_id, run_id = "" } = fact;
    const usage = window?.begun.has(run_id) ? undefined : readEndUsage(fact);
    if (usage === undefined) unreported.set(run_id, { session_id, facts: [] });
    else used.push({ session_id, run_id, usage });
  }
  const unread = new Set([...unreported.values()].map(({ session_id }) => session_id));
  if (unread.size === 0) return used;
  const { facts } = await readSound([...unread], (ids) => store.factsOfTypes(ids, USED));
  for (const fact of facts) {
    if (window !== undefined && fact.time < window.since) continue;
    unreported.get(fact.run_id ?? "")?.facts.push(fact);
  }
  for (const [run_id, { session_id, facts }] of unreported) {
    used.push({ session_id, run_id, usage: reportUsage(facts).session });
  }
  return used;
}
