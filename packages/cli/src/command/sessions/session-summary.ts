// What a list says of each session: its status, how many turns it had, what it used. From the last facts of its runs,
// so that the length of a session does not matter.

import { describeUsageCost, sumUsage, type UsageTotal } from "@soong/agent";
import { RUNTIME_RESTARTED, type Fact, type FactType, type SessionCreatedData } from "@soong/core";
import type { SessionRecord, Store } from "@soong/store";
import { describeAge, visibleLine } from "../../output/index.ts";
import { selectRootRuns } from "../stored.ts";
import { readSound } from "./read-sound.ts";
import { sumSessionUsage } from "./stored-usage.ts";

export interface SessionSummary extends SessionRecord {
  readonly status: SessionStatus;
  /** Why its last turn failed, where that was recorded. */
  readonly reason?: string;
  /** Prompts, or calls of `soong call`: the runs that no other run of the session started. */
  readonly turns: number;
  /** The step it was opened for, dispatched from another session. */
  readonly worker_of?: WorkedStep;
  readonly usage: UsageTotal;
}

export interface WorkedStep {
  readonly task_id: string;
  readonly step_id: string;
  /** The session and run that dispatched it; not in old journals. */
  readonly session_id?: string;
  readonly run_id?: string;
}

export type SessionStatus =
  | "running"
  | "waiting_for_approval"
  | "interrupted"
  | "done"
  | "failed"
  /** Nothing was asked in it. */
  | "empty"
  /** The end of a run cannot be read. */
  | "damaged";

type SummaryStore = Pick<Store, "lastFacts" | "factsOfTypes" | "heldSessions" | "questions">;

export async function summarizeSessions(
  store: SummaryStore,
  records: readonly SessionRecord[],
): Promise<SessionSummary[]> {
  const { facts: ends, damaged } = await readSound(
    records.map(({ session_id }) => session_id),
    (ids) => store.lastFacts(ids),
  );
  const usages = await sumSessionUsage(store, ends);
  const runs = new Map<string, Fact[]>();
  for (const fact of ends) {
    const before = runs.get(fact.session_id);
    if (before === undefined) runs.set(fact.session_id, [fact]);
    else before.push(fact);
  }
  const turns = new Map([...runs].map(([id, facts]) => [id, selectRootRuns(facts)]));
  // The run of a worker on another machine has its parent in another session.
  const dispatched = [...turns].flatMap(([id, facts]) =>
    facts.some(({ parent_run_id }) => parent_run_id !== undefined) ? [id] : [],
  );
  // Old journals have only the claim.
  const worked = await readWorkedSteps(store, dispatched, ["session.created", "task.step.claimed"]);
  const open = [...turns].flatMap(([id, facts]) => (facts.every(hasEnded) ? [] : [id]));
  const [held, waiting] = open.length === 0 ? [[], []] : await readLive(store, open);
  return records.map((record) => {
    const { session_id } = record;
    const own = turns.get(session_id) ?? [];
    const usage = usages.get(session_id) ?? sumUsage([]);
    const status = readStatus(session_id, own);
    const reason = status === "failed" ? readReason(own.at(-1)) : undefined;
    const worker_of = worked.get(session_id);
    return {
      ...record,
      status,
      ...(reason && { reason }),
      turns: own.length,
      usage,
      ...(worker_of && { worker_of }),
    };
  });

  function readStatus(session_id: string, own: readonly Fact[]): SessionStatus {
    if (damaged.has(session_id)) return "damaged";
    const last = own.find((fact) => !hasEnded(fact)) ?? own.at(-1);
    if (last === undefined) return "empty";
    if (hasEnded(last)) return readEnd(last);
    if (!held.includes(session_id)) return "interrupted";
    return waiting.includes(session_id) ? "waiting_for_approval" : "running";
  }
}

/** By session. */
export async function readWorkedSteps(
  store: Pick<Store, "factsOfTypes">,
  session_ids: readonly string[],
  types: readonly FactType[] = ["session.created"],
): Promise<ReadonlyMap<string, WorkedStep>> {
  if (session_ids.length === 0) return new Map();
  const worked = new Map<string, WorkedStep>();
  const { facts } = await readSound(session_ids, (ids) => store.factsOfTypes(ids, types));
  for (const fact of facts) {
    const step = readWorkedStep(fact);
    const known = worked.get(fact.session_id);
    if (step !== undefined && known?.run_id === undefined) worked.set(fact.session_id, step);
  }
  return worked;
}

function readWorkedStep(fact: Fact): WorkedStep | undefined {
  if (fact.type === "session.created") {
    const { dispatched_by: by }: SessionCreatedData = fact.data;
    if (by === undefined) return undefined;
    const { task_id, step_id, session_id, run_id } = by;
    return { task_id, step_id, session_id, run_id };
  }
  if (fact.type !== "task.step.claimed") return undefined;
  const { task_id, step_id } = fact.data;
  return { task_id, step_id };
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

/** Undefined where it only says that it failed. */
function readReason(end: Fact | undefined): string | undefined {
  if (end?.type !== "run.failed") return undefined;
  const { error, message, reason } = end.data;
  const why = error?.message ?? message ?? (reason === "failed" ? undefined : reason);
  return why?.replaceAll("_", " ");
}

/** `done · 3 min ago · 2 turns · cost 0.02 USD`, in parts. */
export function describeSummary(
  { status, updated_at, turns, usage, worker_of }: SessionSummary,
  now: number,
): readonly [status: string, ...about: string[]] {
  const cost = describeUsageCost(usage);
  return [
    status.replaceAll("_", " "),
    ...(worker_of === undefined ? [] : [describeWorkedStep(worker_of)]),
    describeAge(updated_at, now),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    ...(cost === "" ? [] : [cost]),
  ];
}

export function describeWorkedStep({ task_id, step_id }: WorkedStep): string {
  return `worker of ${visibleLine(step_id)} in ${visibleLine(task_id)}`;
}
