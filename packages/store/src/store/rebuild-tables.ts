// Makes the tables that follow from a session's facts again, in one transaction of the holder of the session.

import { StoreError } from "../contract/store-error.ts";
import { factPlace, formatOpenState } from "../session/rows.ts";
import type { SessionPlace } from "../session/session-reader.ts";

import { asColumn } from "../sql/columns.ts";
import { raw, sql, sqlRow, type Steps } from "../sql/sql.ts";
import { writeAgent, writeArtifactRow, writeCall, writeRun } from "../session/write-rows.ts";
import { findChangedColumn, heldArtifacts, recordIn, type HeldArtifact } from "./derived-tables.ts";
import { walkFacts } from "./walk-facts.ts";

export function* rebuildTables(
  place: SessionPlace,
  session: { readonly last_seq: number; readonly head_hash: string },
): Steps<void> {
  const { session_no: no } = place;
  const walk = walkFacts(place);
  let step = yield* walk.next(session.last_seq);
  while (step === "more") step = yield* walk.next(session.last_seq);
  const problem = step === "done" ? walk.check.end(session) : step;
  if (problem !== undefined) {
    throw new StoreError(
      "store_corrupted",
      `Session ${place.session_id} cannot be made again, because its facts are not as they were recorded: ${problem.message}`,
    );
  }
  for (const table of ["runs", "agents", "calls"]) {
    yield* sql`DELETE FROM ${raw(table)} WHERE session_no = ${no}`;
  }
  const { rows } = walk;
  for (const run of rows.runs) yield* writeRun(no, run);
  for (const agent of rows.agents) yield* writeAgent(no, agent);
  for (const call of rows.calls) yield* writeCall(no, call);
  yield* fileFacts();
  for (const { node_id, parent_id, seq } of walk.misplacedNodes) {
    yield* sql`UPDATE nodes SET parent_id = ${parent_id}, seq = ${seq}
      WHERE session_no = ${no} AND node_id = ${node_id}`;
  }
  const artifactBytes = yield* keepArtifacts();
  yield* sql`UPDATE sessions
    SET open_state = ${formatOpenState(rows.openState())}, bytes = ${walk.bytes + artifactBytes} WHERE session_no = ${no}`;

  /** Looked at again: a run may have another number now. */
  function* fileFacts(): Steps<void> {
    const filed = walkFacts(place);
    while ((yield* filed.next(session.last_seq)) === "more");
    for (const { seq, fact } of filed.misfiledFacts) {
      yield* sql`UPDATE facts
        SET type = ${fact.type}, run_index = ${fact.run_id === undefined ? null : (rows.runOf(fact.run_id)?.run_index ?? null)}, tool_call_id = ${asColumn(fact.tool_call_id)} WHERE place = ${factPlace(no, seq)}`;
    }
  }

  /** What is there stays: of an artifact whose fact a crash took, the row is all there is. */
  function* keepArtifacts(): Steps<number> {
    for (const held of yield* heldArtifacts(place)) {
      if (isMisfiled(held)) yield* fileArtifact(held);
    }
    for (const record of rows.artifacts.values()) {
      const held = yield* sqlRow<{ record: string }>`SELECT record FROM artifacts
        WHERE session_no = ${no} AND artifact_id = ${record.artifact_id}`;
      if (held !== undefined && isSame(held.record, record)) continue;
      yield* sql`DELETE FROM artifacts WHERE session_no = ${no} AND artifact_id = ${record.artifact_id}`;
      yield* writeArtifactRow(no, record);
    }
    const sum = yield* sqlRow<{
      bytes: number;
    }>`SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS bytes FROM artifacts
      WHERE session_no = ${no}`;
    return sum?.bytes ?? 0;
  }

  function* fileArtifact(held: HeldArtifact): Steps<void> {
    const record = recordIn(held);
    for (const artifact_id of [held.artifact_id, record.artifact_id]) {
      yield* sql`DELETE FROM artifacts WHERE session_no = ${no} AND artifact_id = ${artifact_id}`;
    }
    yield* writeArtifactRow(no, record);
  }
}

/** False also for a record that cannot be read: the facts say what it has to be. */
function isMisfiled(held: HeldArtifact): boolean {
  try {
    return findChangedColumn(held) !== undefined;
  } catch {
    return false;
  }
}

function isSame(text: string, { sha256, size }: { sha256: string; size: number }): boolean {
  try {
    const held = JSON.parse(text) as { sha256?: unknown; size?: unknown };
    return held.sha256 === sha256 && held.size === size;
  } catch {
    return false;
  }
}
