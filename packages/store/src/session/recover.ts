// What a crash left open in a session, read from its row and tables, however long the journal is (STORE-3).

import {
  recoveryEntry,
  type ArtifactRef,
  type Fact,
  type JournalEntry,
  type LostCall,
  type LostRun,
} from "@soong/core";
import type { Recovery } from "../contract/store.ts";
import { fromColumn } from "../sqlite/sqlite-error.ts";
import {
  parseOpenState,
  placeOfSession,
  type CallRow,
  type RunRow,
  type SessionRow,
} from "./rows.ts";
import { parseFact, type SessionPlace } from "./session-reader.ts";

export interface Lost {
  readonly recovered: Recovery;
  /** Undefined when nothing was left open. */
  readonly entry: JournalEntry | undefined;
}

export function findLost(place: SessionPlace, session: SessionRow, time: string): Lost {
  const { query, session_no: no } = place;
  const base = placeOfSession(no);
  const state = parseOpenState(session);
  const openCalls = state.calls.toSorted((a, b) => a.requested_seq - b.requested_seq);
  const openRuns = state.runs.flatMap(([run_id, last_seq, last_run_seq]) =>
    runRows(run_id).map((run) => ({ ...run, last_seq, last_run_seq })),
  );
  // A call of a run that has ended is lost all the same: its facts continue where the run left off.
  const withCalls = new Set(openCalls.map(({ run_id }) => run_id));
  for (const { run_id } of openRuns) withCalls.delete(run_id);
  const endedRuns = [...withCalls].flatMap(runRows);
  const entry = recoveryEntry({
    lastSeq: session.last_seq,
    time,
    calls: openCalls.map(lostCall),
    runs: [...openRuns, ...endedRuns].toSorted((a, b) => a.run_index - b.run_index).map(lostRun),
  });
  return {
    entry,
    recovered: {
      unknown: openCalls
        .filter((call) => call.started_seq !== null)
        .map((call) => fromColumn(call.tool_call_id)),
      skipped: openCalls
        .filter((call) => call.started_seq === null)
        .map((call) => fromColumn(call.tool_call_id)),
      runs: openRuns.map(({ run_id }) => run_id),
    },
  };

  function runRows(run_id: string): RunRow[] {
    return query<RunRow>`SELECT * FROM runs WHERE session_no = ${no} AND run_id = ${run_id}`;
  }

  function lostCall(call: CallRow): LostCall {
    const started =
      call.started_seq === null ? undefined : (fact(call.started_seq) as Fact<"tool.started">);
    return {
      requested: fact(call.requested_seq) as Fact<"tool.requested">,
      started,
      artifacts: findArtifacts(call),
    };
  }

  function lostRun(run: RunRow): LostRun {
    const hasEnded = run.ended_at !== null;
    return { fact: fact(run.first_seq), lastRunSeq: run.last_run_seq, hasEnded };
  }

  function fact(seq: number): Fact {
    const rows = query`SELECT place - ${base} AS seq, line FROM facts WHERE place = ${base + seq}`;
    return parseFact((rows[0] ?? { seq, line: "" }) as { seq: number; line: string }, place);
  }

  /** Since it started: what was kept of its arguments before that is no part of its result. */
  function findArtifacts({ started_seq, run_id, tool_call_id }: CallRow): ArtifactRef[] {
    if (started_seq === null) return [];
    const rows = query<{ seq: number; line: string }>`SELECT place - ${base} AS seq, line FROM facts
      WHERE place BETWEEN ${base + started_seq} AND ${base + session.last_seq}
         AND type = 'artifact.created' AND tool_call_id = ${tool_call_id} ORDER BY place`;
    return rows
      .map((row) => parseFact(row, place))
      .filter((fact) => fact.type === "artifact.created")
      .filter((created) => created.run_id === run_id)
      .map(({ data: { artifact_id, media_type, size, sha256, name } }) => ({
        artifact_id,
        media_type,
        size,
        sha256,
        name,
      }));
  }
}
