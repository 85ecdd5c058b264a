// What the writer of a session asks its tables for. It asks in the middle of a call, so all of it is read when the session is
// opened, and kept up with each commit.

import type { ArtifactRecord } from "@soong/core";
import type { AgentRow, RunRow, SessionRow } from "../session/rows.ts";
import type { SessionTables } from "../session/session-tables.ts";
import type { Batch } from "../session/write-rows.ts";
import { sql, type Steps } from "../sql/sql.ts";

export function* loadTables({ session_no: no, last_seq }: SessionRow): Steps<SessionTables> {
  const nodes = new Set<string>();
  /** By parent, which may not be there yet: its newest child. */
  const children = new Map<string, string>();
  const runs = new Map<string, RunRow>();
  const agents = new Map<string, AgentRow>();
  const artifacts = new Map<string, ArtifactRecord>();
  if (last_seq > 0) {
    addNodes(
      yield* sql`SELECT node_id, parent_id FROM nodes WHERE session_no = ${no} ORDER BY seq, rowid`,
    );
    for (const row of yield* sql<RunRow>`SELECT * FROM runs WHERE session_no = ${no}`) {
      runs.set(row.run_id, row);
    }
    for (const row of yield* sql<AgentRow>`SELECT * FROM agents WHERE session_no = ${no}`) {
      agents.set(row.agent_id, row);
    }
  }
  for (const { record } of yield* sql<{
    record: string;
  }>`SELECT record FROM artifacts WHERE session_no = ${no}`) {
    addArtifact(JSON.parse(record) as ArtifactRecord);
  }

  return {
    has: (node_id) => nodes.has(node_id),
    childOf: (node_id) => children.get(node_id),
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
      addNodes(batch.nodes);
      for (const row of batch.runs) runs.set(row.run_id, row);
      for (const row of batch.agents) agents.set(row.agent_id, row);
      for (const record of batch.artifacts) addArtifact(record);
    },
  };

  function addNodes(rows: readonly { node_id: string; parent_id: string | null }[]): void {
    for (const { node_id, parent_id } of rows) {
      nodes.add(node_id);
      if (parent_id !== null) children.set(parent_id, node_id);
    }
  }

  function addArtifact(record: ArtifactRecord): void {
    artifacts.set(record.artifact_id, record);
  }
}

function copy<Row extends object>(row: Row | undefined): Row | undefined {
  return row && { ...row };
}

function after(indices: readonly number[]): number {
  return indices.reduce((most, index) => Math.max(most, index + 1), 0);
}
