// A home at a glance: what runs now and what it is at, what failed lately, and what was used since a time.

import type { Fact } from "@soong/core";
import type { SessionReader, SessionRecord, Store } from "@soong/store";
import { summarizeArguments } from "../timeline/read-data.ts";
import { soundFact } from "../timeline/sound-fact.ts";
import type { Doing, HomeOverview, RunningSession } from "../wire/overview-records.ts";
import type { LiveSession } from "../wire/session-records.ts";
import type { LiveState, SummaryPort } from "./ports.ts";
import type { SessionSummaries } from "./session-summaries.ts";

const LATELY_MS = 24 * 60 * 60 * 1000;
const PAGE = 200;
const MOST_COUNTED = 2000;
const MOST_FAILED = 20;
const MOST_CALLS = 4;

export interface OverviewParts {
  readonly store: Store;
  readonly summaries: SessionSummaries;
  readonly port: SummaryPort | undefined;
  readonly live: LiveState | undefined;
  /** From when on to count what was used. */
  readonly since: string;
  readonly now: number;
}

export async function readOverview(parts: OverviewParts): Promise<HomeOverview> {
  const { store, summaries, port, since, now } = parts;
  const lately = new Date(now - LATELY_MS).toISOString();
  const { records, isCut } = await readSessionsSince(store, since < lately ? since : lately);
  const rows = await summaries.rows(records.filter(({ updated_at }) => updated_at >= lately));
  const used = await port?.usedSince(
    records.filter(({ updated_at }) => updated_at >= since),
    since,
  );
  return {
    running: await readRunning(parts),
    failed: rows.filter(({ status }) => status === "failed").slice(0, MOST_FAILED),
    ...(used && { used: isCut ? { ...used, is_cut: true } : used }),
    projects: await store.projects(),
  };
}

async function readSessionsSince(
  store: Pick<Store, "sessions">,
  since: string,
): Promise<{ records: SessionRecord[]; isCut: boolean }> {
  const records: SessionRecord[] = [];
  while (records.length < MOST_COUNTED) {
    const page = await store.sessions({ limit: PAGE, after: records.at(-1) });
    const recent = page.filter(({ updated_at }) => updated_at >= since);
    records.push(...recent);
    if (recent.length < PAGE) return { records, isCut: false };
  }
  return { records, isCut: true };
}

/** Those that work longest first. */
async function readRunning({ store, summaries, live }: OverviewParts): Promise<RunningSession[]> {
  const found: RunningSession[] = [];
  for (const [session_id, held] of live?.sessions ?? []) {
    const [since] = held.runs.map(({ started_at }) => started_at).toSorted();
    if (since === undefined) continue;
    try {
      const reader = await store.readSession(session_id);
      const [session] = await summaries.rows([await reader.record()]);
      const asked = live?.questions.filter((question) => question.session_id === session_id) ?? [];
      const calls = new Set(asked.map(({ request }) => request.tool_call_id));
      const doing = await readDoing(store, reader, held, calls);
      if (session !== undefined) found.push({ session, since, doing });
    } catch {
      // Live, and not kept, or removed meanwhile: there is nothing of it to look at.
    }
  }
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

async function readDoing(
  store: Store,
  reader: SessionReader,
  { runs }: LiveSession,
  asked: ReadonlySet<string>,
): Promise<Doing[]> {
  const doing: Doing[] = [];
  const open = await reader.calls({ isOpen: true });
  for (const { run_id, tool_call_id, tool_name, requested_seq, started_seq } of open) {
    const isWaiting = asked.has(tool_call_id);
    if (!isWaiting && started_seq === undefined) continue;
    if (doing.length === MOST_CALLS) break;
    const [requested] = await reader.facts({ after: requested_seq - 1, limit: 1 });
    const [started] =
      started_seq === undefined ? [] : await reader.facts({ after: started_seq - 1, limit: 1 });
    doing.push({
      what: isWaiting ? "waiting" : "call",
      since: (isWaiting ? requested : (started ?? requested))?.time ?? "",
      run_id,
      tool_call_id,
      name: tool_name,
      text: describeInput(requested),
    });
  }
  if (doing.length > 0) return doing;
  const [asking] = await store.newestFacts([reader.session_id], "model.started");
  if (asking?.type !== "model.started" || !runs.some(({ run_id }) => run_id === asking.run_id)) {
    return [];
  }
  const [answered] = await store.newestFacts([reader.session_id], "model.completed");
  if ((answered?.seq ?? 0) > asking.seq) return [];
  const { time: since, run_id = "", data } = asking;
  return [{ what: "model", since, run_id, name: data.model }];
}

function describeInput(fact: Fact | undefined): string | undefined {
  const sound = fact && soundFact(fact);
  return sound?.type === "tool.requested" ? summarizeArguments(sound.data.model_input) : undefined;
}
