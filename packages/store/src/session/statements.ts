// The SQL of writing a session. Plain statements that other databases know too.

import type { ArtifactRecord } from "@soong/core";
import type { Database } from "../sqlite/index.ts";
import {
  placeOfSession,
  type AgentRow,
  type CallRow,
  type FactRow,
  type NodeRow,
  type RunRow,
  type SessionRow,
} from "./rows.ts";

export interface WriteStatements {
  fact(session_no: number, row: FactRow): void;
  node(session_no: number, row: NodeRow): void;
  run(session_no: number, row: RunRow): void;
  agent(session_no: number, row: AgentRow): void;
  call(session_no: number, row: CallRow): void;
  artifact(session_no: number, record: ArtifactRecord): void;
  session(row: SessionRow): void;
}

export function writeStatements(database: Database): WriteStatements {
  const fact = database.prepare(
    "INSERT INTO facts (place, type, run_index, tool_call_id, line) VALUES (?, ?, ?, ?, ?)",
  );
  const node = database.prepare(
    "INSERT INTO nodes (session_no, node_id, parent_id, seq, text) VALUES (?, ?, ?, ?, ?)",
  );
  const run = database.prepare(
    `INSERT INTO runs (session_no, run_index, run_id, agent_id, parent_run_id, role, status, started_at,
       ended_at, first_seq, last_seq, last_run_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session_no, run_index) DO UPDATE SET role = excluded.role, status = excluded.status,
       ended_at = excluded.ended_at, last_seq = excluded.last_seq, last_run_seq = excluded.last_run_seq`,
  );
  const agent = database.prepare(
    `INSERT INTO agents (session_no, agent_index, agent_id, parent_agent_id, active_node_id)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session_no, agent_index) DO UPDATE SET active_node_id = excluded.active_node_id`,
  );
  const call = database.prepare(
    `INSERT INTO calls (session_no, requested_seq, run_id, tool_call_id, tool_name, started_seq, ended_seq,
       status) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const artifact = database.prepare(
    `INSERT INTO artifacts (session_no, artifact_id, run_id, tool_call_id, created_at, size, record)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const session = database.prepare(
    `UPDATE sessions SET updated_at = ?, last_seq = ?, head_hash = ?, bytes = ?, open_state = ?
     WHERE session_no = ?`,
  );
  return {
    fact(no, row) {
      const place = placeOfSession(no) + row.seq;
      fact.run(place, row.type, row.run_index, row.tool_call_id, row.line);
    },
    node(no, row) {
      node.run(no, row.node_id, row.parent_id, row.seq, row.text);
    },
    run(no, row) {
      run.run(
        no,
        row.run_index,
        row.run_id,
        row.agent_id,
        row.parent_run_id,
        row.role,
        row.status,
        row.started_at,
        row.ended_at,
        row.first_seq,
        row.last_seq,
        row.last_run_seq,
      );
    },
    agent(no, row) {
      agent.run(no, row.agent_index, row.agent_id, row.parent_agent_id, row.active_node_id);
    },
    call(no, row) {
      call.run(
        no,
        row.requested_seq,
        row.run_id,
        row.tool_call_id,
        row.tool_name,
        row.started_seq,
        row.ended_seq,
        row.status,
      );
    },
    artifact(no, record) {
      artifact.run(
        no,
        record.artifact_id,
        record.run_id,
        record.tool_call_id ?? null,
        record.created_at,
        record.size,
        JSON.stringify(record),
      );
    },
    session(row) {
      const { updated_at, last_seq, head_hash, bytes, open_state, session_no } = row;
      session.run(updated_at, last_seq, head_hash, bytes, open_state, session_no);
    },
  };
}
