// What the shared database says of the cluster demo: one session for each attempt at a step, in the project directory of the
// worker that made it.

import { basename, dirname } from "node:path";
import type { Fact } from "@soong/core";
import type { Store } from "@soong/store";
import { listAttempts, renderTimeline } from "../packages/cli/src/command/demo/timeline.ts";
import { STEPS, VICTIM, WORKERS } from "./demo-cluster-stage.ts";

export interface ClusterRecord {
  /** By the name of the worker. */
  readonly sessions: readonly WorkerSession[];
  /** Of all sessions. */
  readonly facts: readonly Fact[];
}

interface WorkerSession {
  readonly worker: string;
  readonly facts: readonly Fact[];
}

export async function readRecord(store: Store): Promise<ClusterRecord> {
  const records = await store.sessions({ limit: 1000 });
  const sessions = await Promise.all(
    records.map(async ({ session_id, project = "" }) => {
      const reader = await store.readSession(session_id);
      return { worker: basename(dirname(project)), facts: await reader.facts() };
    }),
  );
  return {
    sessions: sessions.filter(({ worker }) => WORKERS.some((name) => name === worker)),
    facts: sessions.flatMap(({ facts }) => facts),
  };
}

/** What a worker has begun after it had completed another; undefined while there is none. */
export function findSecondStep({ sessions }: ClusterRecord, worker: string): string | undefined {
  const own = sessions.filter((session) => session.worker === worker);
  const [ended, begun] = [true, false].map((hasEnded) =>
    own.filter(({ facts }) => listAttempts(facts).length > 0 === hasEnded),
  );
  if (ended?.length === 0) return undefined;
  const [facts = []] = (begun ?? []).map((session) => session.facts);
  // Its first call, which says that the step is running, has its result.
  if (!facts.some(({ type }) => type === "tool.yielded")) return undefined;
  return findClaims(facts)[0]?.data.step_id;
}

function findClaims(facts: readonly Fact[]): Fact<"task.step.claimed">[] {
  return facts.filter(
    (fact): fact is Fact<"task.step.claimed"> => fact.type === "task.step.claimed",
  );
}

export function renderLanes({ sessions }: ClusterRecord, killedAt: number): string[] {
  const attempts = sessions.flatMap(({ worker, facts }) => {
    const ended = listAttempts(facts).map((attempt) => ({ ...attempt, worker }));
    if (ended.length > 0) return ended;
    return findClaims(facts).map(({ time, data: { step_id } }) => {
      return { worker, step_id, from: Date.parse(time), to: killedAt, isDone: false };
    });
  });
  return renderTimeline(
    attempts.toSorted((one, other) => one.from - other.from),
    96,
  );
}

export interface ClusterPoint {
  readonly says: string;
  readonly holds: boolean;
}

export function checkRecord(record: ClusterRecord, killedStep: string): ClusterPoint[] {
  const { sessions, facts } = record;
  const done = facts.flatMap((fact) =>
    fact.type === "task.step.completed" ? [fact.data.step_id] : [],
  );
  const claims = findClaims(facts).map(({ data }) => `${data.step_id}/${data.attempt}`);
  const doers = (step: string): string[] =>
    sessions
      .filter(({ facts: own }) =>
        own.some((fact) => fact.type === "task.step.completed" && fact.data.step_id === step),
      )
      .map(({ worker }) => worker);
  const lost = facts.flatMap((fact) =>
    fact.type === "task.step.lease_lost" ? [fact.data.step_id] : [],
  );
  const [heir = "no one"] = doers(killedStep);
  const workers = new Set(sessions.map(({ worker }) => worker));
  return [
    {
      says: `each of the ${STEPS.length} steps was completed, and none of them twice`,
      holds: done.toSorted().join() === STEPS.toSorted().join(),
    },
    {
      says: `no attempt was claimed twice: ${claims.length} claims for ${claims.length} attempts`,
      holds: new Set(claims).size === claims.length && claims.length === STEPS.length + 1,
    },
    {
      says: `${VICTIM} was killed in the middle of ${killedStep}; when its lease had ended, ${heir} did it`,
      holds: lost.join() === killedStep && heir !== "no one" && heir !== VICTIM,
    },
    {
      says: `${workers.size} processes, with a home and a project directory each, shared the work`,
      holds: workers.size === WORKERS.length,
    },
    {
      says: "the task is completed",
      holds: facts.filter(({ type }) => type === "task.completed").length === 1,
    },
  ];
}
