// The SQL of writing a session. Plain statements that other databases know too.

import type { ArtifactRecord } from "@soong/core";
import type { Database, SqlValue, Statement } from "../sqlite/driver.ts";
import { placeOfSession, type AgentRow, type RunRow, type WriteStatements } from "./rows.ts";

import type { ConversationTree, DerivedTables } from "./derived-rows.ts";

/** What is in the tables already, asked for when it is needed. */
export interface SessionTables extends ConversationTree, DerivedTables {
  artifact(artifact_id: string): ArtifactRecord | undefined;
  /** One of the artifacts of all sessions that were kept last, with that content. */
  sameContent(
    sha256: string,
    size: number,
  ): Pick<ArtifactRecord, "session_id" | "artifact_id"> | undefined;
  /** The session that has a run of this id, if it is another one. */
  ownerOfRun(run_id: string): string | undefined;
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

// What the writer of a session asks its tables for.

/** So many are looked through, for there is no index by content. */
const LATEST_ARTIFACTS = 1_000;

/** The first row of a statement, as a plain object: rows come without a prototype. */
export type Ask = (sql: string, ...values: SqlValue[]) => object | undefined;

/** Prepares each statement once for all sessions of a store: six of them took 90 µs of each. */
export function createAsk(database: Database): Ask {
  const prepared = new Map<string, Statement>();
  return (sql, ...values) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      prepared.set(sql, statement);
    }
    const row = statement.get(...values);
    return row === undefined ? undefined : { ...(row as object) };
  };
}

export function sessionTables(askAll: Ask, session_no: number): SessionTables {
  const ask: Ask = (sql, ...values) => askAll(sql, session_no, ...values);
  return {
    has: (node_id) =>
      ask("SELECT 1 FROM nodes WHERE session_no = ? AND node_id = ?", node_id) !== undefined,
    childOf(node_id) {
      const row = ask(
        "SELECT node_id FROM nodes WHERE session_no = ? AND parent_id = ? ORDER BY seq DESC LIMIT 1",
        node_id,
      ) as { node_id: string } | undefined;
      return row?.node_id;
    },
    run: (run_id) =>
      ask("SELECT * FROM runs WHERE session_no = ? AND run_id = ?", run_id) as RunRow | undefined,
    agent: (agent_id) =>
      ask("SELECT * FROM agents WHERE session_no = ? AND agent_id = ?", agent_id) as
        | AgentRow
        | undefined,
    artifact(artifact_id) {
      const row = ask(
        "SELECT record FROM artifacts WHERE session_no = ? AND artifact_id = ?",
        artifact_id,
      ) as { record: string } | undefined;
      return row && (JSON.parse(row.record) as ArtifactRecord);
    },
    sameContent(sha256, size) {
      const row = askAll(
        `SELECT record FROM artifacts
         WHERE rowid > (SELECT max(rowid) FROM artifacts) - ? AND size = ? AND instr(record, ?) > 0
         ORDER BY rowid DESC LIMIT 1`,
        LATEST_ARTIFACTS,
        size,
        `"sha256":"${sha256}"`,
      ) as { record: string } | undefined;
      return row && (JSON.parse(row.record) as ArtifactRecord);
    },
    ownerOfRun(run_id) {
      const row = ask(
        `SELECT session_id FROM runs JOIN sessions USING (session_no)
         WHERE session_no <> ? AND run_id = ?`,
        run_id,
      ) as { session_id: string } | undefined;
      return row?.session_id;
    },
    counts() {
      const runs = ask("SELECT max(run_index) AS last FROM runs WHERE session_no = ?");
      const agents = ask("SELECT max(agent_index) AS last FROM agents WHERE session_no = ?");
      return { runs: after(runs), agents: after(agents) };
    },
  };
}

function after(row: unknown): number {
  return ((row as { last: number | null }).last ?? -1) + 1;
}
