// The rows of a session, as they are written.

import type { ArtifactRecord } from "@soong/core";
import { sql, type Steps } from "../sql/sql.ts";
import {
  factPlace,
  type AgentRow,
  type CallRow,
  type FactRow,
  type NodeRow,
  type RunRow,
  type SessionRow,
} from "./rows.ts";

/** What a session has taken since its last commit, and its row as it is then. */
export interface Batch {
  readonly session: Readonly<
    Pick<
      SessionRow,
      "session_no" | "session_id" | "updated_at" | "last_seq" | "head_hash" | "bytes" | "open_state"
    >
  >;
  /** How the row is before. */
  readonly before: Pick<SessionRow, "last_seq" | "head_hash">;
  /** Some of it must survive a loss of power (STORE-6). */
  readonly mustSync: boolean;
  readonly facts: readonly FactRow[];
  readonly nodes: readonly NodeRow[];
  readonly runs: readonly RunRow[];
  readonly agents: readonly AgentRow[];
  readonly calls: readonly CallRow[];
  readonly artifacts: readonly ArtifactRecord[];
}

export function* writeBatch(batch: Batch): Steps<void> {
  const { session_no: no, updated_at, last_seq, head_hash, bytes, open_state } = batch.session;
  for (const row of batch.runs) yield* writeRun(no, row);
  for (const row of batch.agents) yield* writeAgent(no, row);
  for (const row of batch.calls) yield* writeCall(no, row);
  for (const { seq, type, run_index, tool_call_id, line } of batch.facts) {
    yield* sql`INSERT INTO facts (place, type, run_index, tool_call_id, line)
      VALUES (${factPlace(no, seq)}, ${type}, ${run_index}, ${tool_call_id}, ${line})`;
  }
  for (const { node_id, parent_id, seq, text } of batch.nodes) {
    yield* sql`INSERT INTO nodes (session_no, node_id, parent_id, seq, text)
      VALUES (${no}, ${node_id}, ${parent_id}, ${seq}, ${text})`;
  }
  for (const record of batch.artifacts) yield* writeArtifactRow(no, record);
  yield* sql`UPDATE sessions SET updated_at = ${updated_at}, last_seq = ${last_seq},
      head_hash = ${head_hash}, bytes = ${bytes}, open_state = ${open_state}
    WHERE session_no = ${no}`;
}

export function writeRun(no: number, row: RunRow): Steps<object[]> {
  return sql`INSERT INTO runs (session_no, run_index, run_id, agent_id, parent_run_id, role, status,
      started_at, ended_at, first_seq, last_seq, last_run_seq)
    VALUES (${no}, ${row.run_index}, ${row.run_id}, ${row.agent_id}, ${row.parent_run_id}, ${row.role}, ${row.status},
      ${row.started_at}, ${row.ended_at}, ${row.first_seq}, ${row.last_seq}, ${row.last_run_seq})
    ON CONFLICT (session_no, run_index) DO UPDATE SET role = excluded.role, status = excluded.status,
      ended_at = excluded.ended_at, last_seq = excluded.last_seq, last_run_seq = excluded.last_run_seq`;
}

export function writeAgent(no: number, row: AgentRow): Steps<object[]> {
  return sql`INSERT INTO agents (session_no, agent_index, agent_id, parent_agent_id, active_node_id)
    VALUES (${no}, ${row.agent_index}, ${row.agent_id}, ${row.parent_agent_id}, ${row.active_node_id})
    ON CONFLICT (session_no, agent_index) DO UPDATE SET active_node_id = excluded.active_node_id`;
}

export function writeCall(no: number, row: CallRow): Steps<object[]> {
  return sql`INSERT INTO calls (session_no, requested_seq, run_id, tool_call_id, tool_name, started_seq,
      ended_seq, status)
    VALUES (${no}, ${row.requested_seq}, ${row.run_id}, ${row.tool_call_id}, ${row.tool_name}, ${row.started_seq},
      ${row.ended_seq}, ${row.status})`;
}

export function writeArtifactRow(no: number, record: ArtifactRecord): Steps<object[]> {
  const { artifact_id, run_id, tool_call_id = null, created_at, size } = record;
  return sql`INSERT INTO artifacts (session_no, artifact_id, run_id, tool_call_id, created_at, size, record)
    VALUES (${no}, ${artifact_id}, ${run_id}, ${tool_call_id}, ${created_at}, ${size}, ${JSON.stringify(record)})`;
}
