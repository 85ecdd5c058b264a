// What the writer of a session asks its tables for, on SQLite: when it is needed.

import type { ArtifactRecord } from "@soong/core";
import { parseArtifact, type AgentRow, type RunRow } from "../session/rows.ts";
import type { SessionTables } from "../session/session-tables.ts";
import type { SqlValue } from "../sql/sql.ts";
import type { Database, Statement } from "./driver.ts";

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
      return row && parseArtifact(row);
    },
    artifactWith({ sha256, size }) {
      const row = ask(
        `SELECT record FROM artifacts
         WHERE session_no = ? AND size = ? AND instr(record, ?) > 0 LIMIT 1`,
        size,
        sha256,
      ) as { record: string } | undefined;
      return row && parseArtifact(row);
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

/** One of the artifacts of all sessions that were kept last, with that content. */
export function findSameContent(
  ask: Ask,
  sha256: string,
  size: number,
): Pick<ArtifactRecord, "session_id" | "artifact_id"> | undefined {
  const row = ask(
    `SELECT record FROM artifacts
     WHERE rowid > (SELECT max(rowid) FROM artifacts) - ? AND size = ? AND instr(record, ?) > 0
     ORDER BY rowid DESC LIMIT 1`,
    LATEST_ARTIFACTS,
    size,
    `"sha256":"${sha256}"`,
  ) as { record: string } | undefined;
  return row && parseArtifact(row);
}

function after(row: unknown): number {
  return ((row as { last: number | null }).last ?? -1) + 1;
}
