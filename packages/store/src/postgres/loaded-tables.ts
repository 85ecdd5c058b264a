// The rows that the writer of a session looks up. It does so in the middle of a call, so all of them are read when the session is
// opened, and updated with each commit.

import type { ArtifactRecord } from "@soong/core";
import { parseArtifact, type AgentRow, type RunRow, type SessionRow } from "../session/rows.ts";
import type { SessionTables } from "../session/session-tables.ts";
import type { Batch } from "../session/write-rows.ts";
import { listed, raw, sql, together, type Steps } from "../sql/sql.ts";
import { createTextSet, type TextSet } from "./text-set.ts";

export function* loadTables(session: SessionRow): Steps<SessionTables> {
  const { session_no: no } = session;
  const isNew = session.last_seq === 0;
  const [kept, runRows, agentRows, artifactRows] = yield* together(
    isNew ? none<TextSet>() : loadNodeIds(no),
    isNew ? none<RunRow>() : sql<RunRow>`SELECT * FROM runs WHERE session_no = ${no}`,
    isNew ? none<AgentRow>() : sql<AgentRow>`SELECT * FROM agents WHERE session_no = ${no}`,
    sql<{ record: string }>`SELECT record FROM artifacts WHERE session_no = ${no}`,
  );
  /** Nodes that were added after opening. */
  const nodes = new Set<string>();
  const children = new Map<string, string>();
  const runs = new Map(runRows.map((row) => [row.run_id, row]));
  const agents = new Map(agentRows.map((row) => [row.agent_id, row]));
  const artifacts = new Map<string, ArtifactRecord>();
  for (const row of artifactRows) addArtifact(parseArtifact(row));

  return {
    has: (node_id) => nodes.has(node_id) || kept.some((ids) => ids.has(node_id)),
    childOf: (node_id) => children.get(node_id),
    *loadBelow(node_ids) {
      for (const { parent_id, node_id } of yield* findBelow(no, node_ids)) {
        children.set(parent_id, node_id);
      }
    },
    run: (run_id) => copy(runs.get(run_id)),
    agent: (agent_id) => copy(agents.get(agent_id)),
    artifact: (artifact_id) => artifacts.get(artifact_id),
    artifactWith: ({ sha256, size }) =>
      [...artifacts.values()].find((one) => one.sha256 === sha256 && one.size === size),
    // The database refuses a run of another session when it is committed.
    ownerOfRun: () => undefined,
    counts: () => ({
      runs: after(Array.from(runs.values(), ({ run_index }) => run_index)),
      agents: after(Array.from(agents.values(), ({ agent_index }) => agent_index)),
    }),
    committed(batch: Batch) {
      for (const { node_id } of batch.nodes) nodes.add(node_id);
      for (const row of batch.runs) runs.set(row.run_id, row);
      for (const row of batch.agents) agents.set(row.agent_id, row);
      for (const record of batch.artifacts) addArtifact(record);
    },
  };

  function addArtifact(record: ArtifactRecord): void {
    artifacts.set(record.artifact_id, record);
  }
}

// oxlint-disable-next-line require-yield
function* none<Row>(): Steps<Row[]> {
  return [];
}

const SEPARATOR = "\u0001";
/** A text of PostgreSQL has a gigabyte at most. */
const FACTS_OF_TEXT = raw("1000000");

/** Reads many ids in one text: one row for each took four times as long. */
function* loadNodeIds(no: number): Steps<TextSet[]> {
  const texts = yield* sql<{ ids: string; count: number; are_apart: boolean }>`SELECT
      string_agg(node_id, ${SEPARATOR}) AS ids, count(*) AS count, bool_and(strpos(node_id, ${SEPARATOR}) = 0) AS are_apart
    FROM nodes WHERE session_no = ${no} GROUP BY seq / ${FACTS_OF_TEXT}`;
  if (texts.every(({ are_apart }) => are_apart)) {
    return texts.map(({ ids, count }) => createTextSet(ids, SEPARATOR, count));
  }
  const rows = yield* sql<{
    node_id: string;
  }>`SELECT node_id FROM nodes WHERE session_no = ${no}`;
  return [new Set(rows.map(({ node_id }) => node_id))];
}

/** Below each of these nodes, which may not be there: the newest child, its newest child, and so on. */
function findBelow(
  no: number,
  node_ids: readonly string[],
): Steps<{ parent_id: string; node_id: string }[]> {
  return sql`WITH RECURSIVE below (parent_id, node_id) AS (
      SELECT value, newest.node_id FROM ${listed(node_ids)} CROSS JOIN LATERAL (SELECT node_id FROM nodes
        WHERE session_no = ${no} AND parent_id = value ORDER BY seq DESC, rowid DESC LIMIT 1) AS newest
      UNION SELECT below.node_id, newest.node_id FROM below CROSS JOIN LATERAL (SELECT node_id FROM nodes
        WHERE session_no = ${no} AND parent_id = below.node_id ORDER BY seq DESC, rowid DESC LIMIT 1) AS newest
    ) SELECT parent_id, node_id FROM below`;
}

function copy<Row extends object>(row: Row | undefined): Row | undefined {
  return row && { ...row };
}

function after(indices: readonly number[]): number {
  return indices.reduce((most, index) => Math.max(most, index + 1), 0);
}
