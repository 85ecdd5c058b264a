// What became of sessions, kept until they change: of those at rest it is asked once, however often they are listed.

import type { SessionRecord } from "@soong/store";
import type { SessionSummary, SessionRow } from "../wire/session-records.ts";
import type { LivePort, LiveState, SummaryPort } from "./ports.ts";

export type SessionSummaries = ReturnType<typeof createSessionSummaries>;

/** One that is live changes with every fact; where only its status counts, so often it is summed up again. */
const LIVE_MS = 2000;
const MOST_KEPT = 20_000;

interface Kept {
  readonly summary: SessionSummary;
  /** All that it depends on, without the facts of a session that is live. */
  readonly state: string;
  readonly last_seq: number;
  readonly at: number;
}

export function createSessionSummaries(
  port: SummaryPort | undefined,
  live: LivePort | undefined,
  now: () => number = () => performance.now(),
) {
  const kept = new Map<string, Kept>();

  return {
    /** In their order, as rows that have a summary where there is one. `isRough`: sums of a live one may be a moment old. */
    async rows(records: readonly SessionRecord[], isRough = false): Promise<SessionRow[]> {
      const state = live?.state();
      await sumUp(records, state, isRough);
      return records.map((record) => {
        const row = sessionRow(record, state);
        const summary = kept.get(record.session_id)?.summary;
        return summary === undefined ? row : { ...row, status: summary.status, summary };
      });
    },
  };

  async function sumUp(
    records: readonly SessionRecord[],
    state: LiveState | undefined,
    isRough: boolean,
  ): Promise<void> {
    if (port === undefined) return;
    const changed = records.filter((record) => !isKept(record, state, isRough));
    if (changed.length === 0) return;
    const summaries = await port.summarize(changed);
    for (const [i, record] of changed.entries()) {
      const summary = summaries[i];
      if (summary === undefined) continue;
      const { session_id, last_seq } = record;
      // Last in the order: it was asked for last.
      kept.delete(session_id);
      kept.set(session_id, { summary, state: describe(record, state), last_seq, at: now() });
    }
    for (const oldest of kept.keys()) {
      if (kept.size <= Math.max(MOST_KEPT, records.length)) break;
      kept.delete(oldest);
    }
  }

  function isKept(record: SessionRecord, state: LiveState | undefined, isRough: boolean): boolean {
    const known = kept.get(record.session_id);
    if (known?.state !== describe(record, state)) return false;
    if (known.last_seq === record.last_seq) return true;
    return isRough && state?.sessions.has(record.session_id) === true && now() - known.at < LIVE_MS;
  }
}

function describe({ session_id, title, project }: SessionRecord, state?: LiveState): string {
  const { pid, runs = [], questions } = state?.sessions.get(session_id) ?? {};
  return JSON.stringify([title, project, pid, runs.map(({ run_id }) => run_id), questions]);
}

/** As the page lists it: what is kept of it, and whether someone runs it now. */
export function sessionRow(record: SessionRecord, live: LiveState | undefined): SessionRow {
  const { session_id, title, project, created_at, updated_at, last_seq } = record;
  const held = live?.sessions.get(session_id);
  return { session_id, title, project, created_at, updated_at, last_seq, live: held };
}
