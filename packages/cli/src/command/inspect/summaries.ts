// What became of stored sessions, for the inspector's home: what `soong sessions` lists of them, and their model, calls and
// duration. From rows that the store has anyway: no journal is read.

import { sumUsage, type UsageTotal } from "@soong/agent";
import { isTerminalFact, type Fact } from "@soong/core";
import type { SessionSummary, SummaryPort, UsedSince } from "@soong/inspector";
import type { CallCount, RunRecord, SessionRecord, Store } from "@soong/store";
import { readSound } from "../sessions/read-sound.ts";
import {
  summarizeSessions,
  type SessionSummary as ListedSession,
} from "../sessions/session-summary.ts";
import { sumUsageSince } from "../sessions/stored-usage.ts";
import { selectRootRuns } from "../stored.ts";

export function createSummaryPort(store: Store): SummaryPort {
  return {
    summarize: (records) => summarize(store, records),
    usedSince: (records, since) => sumByProject(store, records, since),
  };
}

async function summarize(
  store: Store,
  records: readonly SessionRecord[],
): Promise<SessionSummary[]> {
  const listed = await summarizeSessions(store, records);
  const ids = listed.map(({ session_id }) => session_id);
  const runs = groupBySession(await store.runs(ids));
  const counts = groupBySession(await store.countCalls(ids));
  const models = await readNewest(store, listed.filter(hasAskedModel), "model.started");
  const failures = await readNewest(
    store,
    listed.filter(({ status, reason }) => status === "failed" && reason === undefined),
    "tool.failed",
  );
  return listed.map((session) => {
    const { session_id, status, turns, usage, worker_of } = session;
    const calls = counts.get(session_id) ?? [];
    const asked = models.get(session_id);
    return {
      status,
      reason: session.reason ?? describeFailedCall(failures.get(session_id)),
      kind: findKind(session),
      turns,
      model: asked?.type === "model.started" ? asked.data.model : undefined,
      worked_ms: sumDuration(runs.get(session_id) ?? [], session),
      usage,
      calls: sumCounts(calls),
      failed_calls: sumCounts(calls.filter(({ status }) => FAILED.includes(status))),
      tools: [...new Set(calls.map(({ tool_name }) => tool_name))],
      worker_of,
    };
  });
}

/** Sessions that used nothing of a model are not counted. */
async function sumByProject(
  store: Store,
  records: readonly SessionRecord[],
  since: string,
): Promise<UsedSince> {
  const ids = records.map(({ session_id }) => session_id);
  const usages = await sumUsageSince(store, ids, since);
  const groups = new Map<string | undefined, UsageTotal[]>();
  for (const { session_id, project } of records) {
    const usage = usages.get(session_id);
    if (usage === undefined || usage.requests === 0) continue;
    const group = groups.get(project);
    if (group === undefined) groups.set(project, [usage]);
    else group.push(usage);
  }
  const projects = Array.from(groups, ([project, used]) => ({
    project,
    sessions: used.length,
    usage: sumUsage(used),
  }));
  return {
    total: sumUsage(projects.map(({ usage }) => usage)),
    projects: projects.toSorted((a, b) => countTokens(b.usage) - countTokens(a.usage)),
  };
}

function countTokens({ input_tokens = 0, output_tokens = 0 }: UsageTotal): number {
  return input_tokens + output_tokens;
}

/** Whether a request may be on record: of runs under way the end of one may be missing. */
function hasAskedModel({ usage, status }: ListedSession): boolean {
  return usage.requests > 0 || status === "running" || status === "waiting_for_approval";
}

async function readNewest(
  store: Store,
  sessions: readonly SessionRecord[],
  type: "model.started" | "tool.failed",
): Promise<ReadonlyMap<string, Fact>> {
  if (sessions.length === 0) return new Map();
  const ids = sessions.map(({ session_id }) => session_id);
  const { facts } = await readSound(ids, (some) => store.newestFacts(some, type));
  return new Map(facts.map((fact) => [fact.session_id, fact]));
}

function describeFailedCall(fact: Fact | undefined): string | undefined {
  if (fact === undefined || !isTerminalFact(fact)) return undefined;
  const { tool_name, summary } = fact.data.result;
  return `${tool_name}: ${summary}`;
}

/** By what it was opened for; a session that used a model is a conversation, regardless of its title. */
function findKind({ title = "", usage, worker_of }: ListedSession): SessionSummary["kind"] {
  if (worker_of !== undefined) return "worker";
  if (usage.requests > 0) return "conversation";
  if (title === "playground") return "playground";
  if (title.startsWith("soong mcp serve")) return "gateway";
  return /^soong (call|sandbox) /.test(title) ? "call" : "conversation";
}

/** In which its turns worked, without the pauses between them. One that has not ended worked until its last fact. */
function sumDuration(runs: readonly RunRecord[], { updated_at }: SessionRecord): number {
  return selectRootRuns(runs).reduce((sum, { started_at, ended_at = updated_at }) => {
    const ms = Date.parse(ended_at) - Date.parse(started_at);
    return sum + (ms > 0 ? ms : 0);
  }, 0);
}

/** Not those that a rule or the user refused. */
const FAILED: readonly string[] = ["failed", "timed_out", "unknown"];

function sumCounts(counts: readonly CallCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function groupBySession<Row extends { readonly session_id: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.session_id);
    if (group === undefined) groups.set(row.session_id, [row]);
    else group.push(row);
  }
  return groups;
}
