// What a list says of each session: its status, how many turns it had, what it used. From the last facts of its runs,
// so that the length of a session does not matter.

import { describeUsageCost, sumUsage, type UsageTotal } from "@soong/agent";
import { RUNTIME_RESTARTED, type Fact } from "@soong/core";
import type { SessionRecord, Store } from "@soong/store";
import { describeAge } from "../../output/index.ts";
import { sumSessionUsage } from "./stored-usage.ts";

export interface SessionSummary extends SessionRecord {
  readonly status: SessionStatus;
  /** Prompts, or calls of `soong call`: the runs that no other run started. */
  readonly turns: number;
  readonly usage: UsageTotal;
}

export type SessionStatus =
  | "running"
  | "waiting_for_approval"
  | "interrupted"
  | "done"
  | "failed"
  /** Nothing was asked in it. */
  | "empty";

type SummaryStore = Pick<Store, "lastFacts" | "factsOfTypes" | "heldSessions" | "questions">;

export async function summarizeSessions(
  store: SummaryStore,
  records: readonly SessionRecord[],
): Promise<SessionSummary[]> {
  const ends = await store.lastFacts(records.map(({ session_id }) => session_id));
  const usages = await sumSessionUsage(store, ends);
  const turns = new Map<string, Fact[]>();
  for (const fact of ends) {
    if (fact.parent_run_id !== undefined) continue;
    const before = turns.get(fact.session_id);
    if (before === undefined) turns.set(fact.session_id, [fact]);
    else before.push(fact);
  }
  const open = [...turns].flatMap(([id, facts]) => (facts.every(hasEnded) ? [] : [id]));
  const [held, waiting] = open.length === 0 ? [[], []] : await readLive(store, open);
  return records.map((record) => {
    const { session_id } = record;
    const own = turns.get(session_id) ?? [];
    const usage = usages.get(session_id) ?? sumUsage([]);
    return { ...record, status: readStatus(session_id, own), turns: own.length, usage };
  });

  function readStatus(session_id: string, own: readonly Fact[]): SessionStatus {
    const last = own.find((fact) => !hasEnded(fact)) ?? own.at(-1);
    if (last === undefined) return "empty";
    if (hasEnded(last)) return readEnd(last);
    if (!held.includes(session_id)) return "interrupted";
    return waiting.includes(session_id) ? "waiting_for_approval" : "running";
  }
}

async function readLive(store: SummaryStore, session_ids: readonly string[]) {
  const questions = await store.questions().list();
  const waiting = questions.flatMap(({ state, session_id }) =>
    state === "open" ? [session_id] : [],
  );
  return [await store.heldSessions(session_ids), waiting] as const;
}

function hasEnded({ type }: Fact): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.aborted";
}

function readEnd({ type, data }: Fact): SessionStatus {
  if (type === "run.completed") return "done";
  if (type === "run.aborted") return "interrupted";
  const { reason } = data as { reason?: unknown };
  return reason === RUNTIME_RESTARTED ? "interrupted" : "failed";
}

/** `done · 3 min ago · 2 turns · cost 0.02 USD`, in parts. */
export function describeSummary(
  { status, updated_at, turns, usage }: SessionSummary,
  now: number,
): readonly [status: string, ...about: string[]] {
  const cost = describeUsageCost(usage);
  return [
    status.replaceAll("_", " "),
    describeAge(updated_at, now),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    ...(cost === "" ? [] : [cost]),
  ];
}
