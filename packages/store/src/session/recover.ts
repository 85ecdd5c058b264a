// What a crash left open in a session, read from its tables by index, however long the journal is (STORE-3).

import {
  recoveryEntry,
  type ArtifactRecord,
  type ArtifactRef,
  type Fact,
  type JournalEntry,
  type LostCall,
  type LostRun,
} from "@soong/core";
import type { Recovery } from "../contract/index.ts";
import { fromColumn } from "../sqlite/index.ts";
import type { CallRow, RunRow } from "./rows.ts";
import { factOf, type SessionPlace } from "./session-reader.ts";

export interface Lost {
  readonly recovered: Recovery;
  /** Undefined when nothing was left open. */
  readonly entry: JournalEntry | undefined;
}

export function findLost(place: SessionPlace, lastSeq: number, time: string): Lost {
  const { query, session_no: no } = place;
  const openCalls = query(
    "SELECT * FROM calls WHERE session_no = ? AND ended_seq IS NULL ORDER BY requested_seq",
    no,
  ) as CallRow[];
  const openRuns = query(
    "SELECT * FROM runs WHERE session_no = ? AND ended_at IS NULL ORDER BY run_index",
    no,
  ) as RunRow[];
  // A call of a run that has ended is lost all the same: its facts go on where the run left off.
  const withCalls = new Set(openCalls.map(({ run_id }) => run_id));
  for (const { run_id } of openRuns) withCalls.delete(run_id);
  const endedRuns = [...withCalls].flatMap(
    (run_id) =>
      query("SELECT * FROM runs WHERE session_no = ? AND run_id = ?", no, run_id) as RunRow[],
  );
  const entry = recoveryEntry({
    lastSeq,
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

  function lostCall(call: CallRow): LostCall {
    const started = call.started_seq === null ? undefined : fact(call.started_seq);
    return {
      requested: fact(call.requested_seq),
      ...(started === undefined ? {} : { started }),
      artifacts: artifactsOf(call),
    };
  }

  function lostRun(run: RunRow): LostRun {
    const hasEnded = run.ended_at !== null;
    return { fact: fact(run.first_seq), lastRunSeq: run.last_run_seq, hasEnded };
  }

  function fact(seq: number): Fact {
    const rows = query("SELECT seq, line FROM facts WHERE session_no = ? AND seq = ?", no, seq);
    return factOf((rows[0] ?? { seq, line: "" }) as { seq: number; line: string }, place);
  }

  /** Since it started: what was kept of its arguments before that is no part of its result. */
  function artifactsOf({ started_seq, run_id, tool_call_id }: CallRow): ArtifactRef[] {
    if (started_seq === null) return [];
    const rows = query(
      `SELECT seq, line FROM facts WHERE session_no = ? AND seq > ? AND type = 'artifact.created'
         AND tool_call_id = ? ORDER BY seq`,
      no,
      started_seq,
      tool_call_id,
    ) as { seq: number; line: string }[];
    return rows
      .map((row) => factOf(row, place))
      .filter((created) => created.run_id === run_id)
      .map((created) => created.data as unknown as ArtifactRecord)
      .map(({ artifact_id, media_type, size, sha256, name }) => ({
        artifact_id,
        media_type,
        size,
        sha256,
        ...(name === undefined ? {} : { name }),
      }));
  }
}
