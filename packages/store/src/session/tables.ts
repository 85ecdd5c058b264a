// What the writer of a session asks its tables for.

import type { ArtifactRecord } from "@soong/core";
import type { Database, SqlValue, Statement } from "../sqlite/index.ts";
import type { AgentRow, RunRow } from "./rows.ts";
import type { SessionTables } from "./session-writer.ts";

/** So many are looked through, for there is no index by content. */
const LATEST_ARTIFACTS = 1_000;

export function sessionTables(database: Database, session_no: number): SessionTables {
  const ask = asker(database);
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
      const latest = "SELECT size, record FROM artifacts ORDER BY rowid DESC LIMIT ?";
      const rows = database
        .prepare(`SELECT record FROM (${latest}) WHERE size = ?`)
        .all(LATEST_ARTIFACTS, size) as { record: string }[];
      return rows
        .map(({ record }) => JSON.parse(record) as ArtifactRecord)
        .find((record) => record.sha256 === sha256);
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

  function asker(on: Database): (sql: string, ...values: SqlValue[]) => unknown {
    const prepared = new Map<string, Statement>();
    return (sql, ...values) => {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        statement = on.prepare(sql);
        prepared.set(sql, statement);
      }
      const row = statement.get(session_no, ...values);
      // Rows come without a prototype; ours are plain objects.
      return row === undefined ? undefined : { ...(row as object) };
    };
  }
}

function after(row: unknown): number {
  return ((row as { last: number | null }).last ?? -1) + 1;
}
