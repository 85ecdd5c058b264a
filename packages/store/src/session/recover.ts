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
import { fromColumn } from "../sql/columns.ts";
import { parseOpenState, factPlace, type CallRow, type RunRow, type SessionRow } from "./rows.ts";
import { parseFact, type SessionPlace } from "./session-reader.ts";
import { sql, type Steps } from "../sql/sql.ts";

export interface Lost {
  readonly recovered: Recovery;
  /** Undefined when nothing was left open. */
  readonly entry: JournalEntry | undefined;
}

export function* findLost(place: SessionPlace, session: SessionRow, time: string): Steps<Lost> {
  const { session_no: no } = place;
  const state = parseOpenState(session);
  const openCalls = state.calls.toSorted((a, b) => a.requested_seq - b.requested_seq);
  const openRuns: RunRow[] = [];
  for (const [run_id, last_seq, last_run_seq] of state.runs) {
    for (const run of yield* runRows(run_id)) openRuns.push({ ...run, last_seq, last_run_seq });
  }
  // A call of a run that has ended is lost all the same: its facts continue where the run left off.
  const withCalls = new Set(openCalls.map(({ run_id }) => run_id));
  for (const { run_id } of openRuns) withCalls.delete(run_id);
  const runs = [...openRuns];
  for (const run_id of withCalls) runs.push(...(yield* runRows(run_id)));
  const lostCalls: LostCall[] = [];
  for (const call of openCalls) lostCalls.push(yield* lostCall(call));
  const lostRuns: LostRun[] = [];
  for (const run of runs.toSorted((a, b) => a.run_index - b.run_index)) {
    lostRuns.push(yield* lostRun(run));
  }
  return {
    entry: recoveryEntry({ lastSeq: session.last_seq, time, calls: lostCalls, runs: lostRuns }),
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

  function runRows(run_id: string): Steps<RunRow[]> {
    return sql`SELECT * FROM runs WHERE session_no = ${no} AND run_id = ${run_id}`;
  }

  function* lostCall(call: CallRow): Steps<LostCall> {
    const { started_seq, requested_seq } = call;
    return {
      requested: (yield* fact(requested_seq)) as Fact<"tool.requested">,
      started:
        started_seq === null ? undefined : ((yield* fact(started_seq)) as Fact<"tool.started">),
      artifacts: yield* findArtifacts(call),
    };
  }

  function* lostRun(run: RunRow): Steps<LostRun> {
    const hasEnded = run.ended_at !== null;
    return { fact: yield* fact(run.first_seq), lastRunSeq: run.last_run_seq, hasEnded };
  }

  function* fact(seq: number): Steps<Fact> {
    const [row] = yield* sql<{
      seq: number;
      line: string;
    }>`SELECT place - ${factPlace(no, 0)} AS seq, line FROM facts WHERE place = ${factPlace(no, seq)}`;
    return parseFact(row ?? { seq, line: "" }, place);
  }

  /** Since it started: what was kept of its arguments before that is no part of its result. */
  function* findArtifacts({ started_seq, run_id, tool_call_id }: CallRow): Steps<ArtifactRef[]> {
    if (started_seq === null) return [];
    const rows = yield* sql<{
      seq: number;
      line: string;
    }>`SELECT place - ${factPlace(no, 0)} AS seq, line FROM facts
      WHERE place BETWEEN ${factPlace(no, started_seq)} AND ${factPlace(no, session.last_seq)}
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
