// Reading a session from its tables, also while it is held: facts by page, runs, calls, agents, the tree.

import type { ArtifactRecord, ConversationNode, Fact } from "@soong/core";
import { readSessionArtifact } from "../artifacts/session-artifacts.ts";
import { StoreError } from "../contract/store-error.ts";
import type { FactPage, SessionReader } from "../contract/store.ts";
import { asColumn } from "../sqlite/sqlite-error.ts";
import type { SqlValue } from "../sqlite/driver.ts";
import {
  agentRecord,
  callRecord,
  parentsFirst,
  runRecord,
  sessionRecord,
  openStateOf,
  placeOfSession,
  type AgentRow,
  type CallRow,
  type OpenState,
  type RunRow,
  type SessionRow,
} from "./rows.ts";

/** Runs a query, with the store's errors instead of the database's. */
export type Query = (sql: string, ...values: SqlValue[]) => object[];

export interface SessionPlace {
  readonly query: Query;
  readonly session_no: number;
  readonly session_id: string;
  /** Of the database, for messages. */
  readonly path: string;
  readonly artifactDirectory: string;
  artifactDirectoryOf(session_id: string): string;
}

const DEFAULT_LIMIT = 1000;
/** As many as a session has room for. */
const MOST_FACTS = 2 ** 32 - 1;

export function sessionReader(place: SessionPlace): SessionReader {
  const { query, session_no: no, session_id } = place;

  return {
    session_id,
    record: async () => sessionRecord(sessionRow()),
    facts: async (page = {}) => facts(page),
    async agents() {
      const [{ active }, rows] = together(() => [
        openState(),
        query("SELECT * FROM agents WHERE session_no = ? ORDER BY agent_index", no) as AgentRow[],
      ]);
      const moving = new Map(active);
      return parentsFirst(
        rows.map((row) =>
          agentRecord({ ...row, active_node_id: moving.get(row.agent_id) ?? row.active_node_id }),
        ),
      );
    },
    async runs() {
      const [{ runs: moving }, rows] = together(() => [
        openState(),
        query("SELECT * FROM runs WHERE session_no = ? ORDER BY run_index", no) as RunRow[],
      ]);
      const lastSeqs = new Map(moving.map(([run_id, last_seq]) => [run_id, last_seq]));
      return rows.map((row) =>
        runRecord({ ...row, last_seq: lastSeqs.get(row.run_id) ?? row.last_seq }, session_id),
      );
    },
    async calls({ run_id } = {}) {
      const [{ calls: open }, ended] = together(() => [openState(), endedCalls(run_id)]);
      // An open one may be older than many that have ended.
      return [...ended, ...open.filter((call) => run_id === undefined || call.run_id === run_id)]
        .toSorted((a, b) => a.requested_seq - b.requested_seq)
        .map(callRecord);
    },
    async node(node_id) {
      const [row] = query(
        "SELECT text FROM nodes WHERE session_no = ? AND node_id = ?",
        no,
        node_id,
      );
      return row && nodeOf(row);
    },
    async children(node_id) {
      const rows =
        node_id === undefined
          ? query(
              "SELECT text FROM nodes WHERE session_no = ? AND parent_id IS NULL ORDER BY seq, rowid",
              no,
            )
          : query(
              "SELECT text FROM nodes WHERE session_no = ? AND parent_id = ? ORDER BY seq, rowid",
              no,
              node_id,
            );
      return rows.map(nodeOf);
    },
    path: async (node_id) => path(node_id),
    async activePath(agent_id) {
      const active = together(() => activeNode(agent_id));
      return active === undefined ? [] : path(active);
    },
    async artifacts() {
      const rows = query(
        "SELECT record FROM artifacts WHERE session_no = ? ORDER BY created_at, rowid",
        no,
      );
      return (rows as { record: string }[]).map(
        ({ record }) => JSON.parse(record) as ArtifactRecord,
      );
    },
    readArtifact: (artifact_id, range) =>
      readSessionArtifact(place.artifactDirectory, { find: findArtifact }, artifact_id, range),
  };

  function sessionRow(): SessionRow {
    const [row] = query("SELECT * FROM sessions WHERE session_no = ?", no) as SessionRow[];
    if (row === undefined) {
      throw new StoreError("session_removed", `Session ${session_id} was removed.`);
    }
    return row;
  }

  /** Several queries of one moment: a commit in between must not make them contradict each other. */
  function together<T>(work: () => T): T {
    query("BEGIN");
    try {
      return work();
    } finally {
      query("COMMIT");
    }
  }

  function openState(): OpenState {
    return openStateOf(sessionRow());
  }

  function activeNode(agent_id: string): string | undefined {
    const moving = openState().active.find(([id]) => id === agent_id);
    if (moving !== undefined) return moving[1];
    const [row] = query(
      "SELECT active_node_id FROM agents WHERE session_no = ? AND agent_id = ?",
      no,
      agent_id,
    ) as Pick<AgentRow, "active_node_id">[];
    return row?.active_node_id ?? undefined;
  }

  function endedCalls(run_id: string | undefined): CallRow[] {
    if (run_id === undefined) {
      return query("SELECT * FROM calls WHERE session_no = ?", no) as CallRow[];
    }
    const [run] = query(
      "SELECT * FROM runs WHERE session_no = ? AND run_id = ?",
      no,
      run_id,
    ) as RunRow[];
    if (run === undefined) return [];
    return query(
      "SELECT * FROM calls WHERE session_no = ? AND requested_seq BETWEEN ? AND ? AND run_id = ?",
      no,
      run.first_seq,
      lastOf(run),
      run_id,
    ) as CallRow[];
  }

  /** Of a run under way the row does not know. */
  function lastOf({ ended_at, last_seq }: RunRow): number {
    return ended_at === null ? MOST_FACTS : last_seq;
  }

  function facts(page: FactPage): Fact[] {
    const limit = asCount(page.limit ?? DEFAULT_LIMIT);
    const base = placeOfSession(no);
    const where: string[] = [];
    const values: SqlValue[] = [];
    const only = (condition: string, value: SqlValue): void => {
      where.push(condition);
      values.push(value);
    };
    let from = 1;
    let to = MOST_FACTS;
    if (page.run_id !== undefined) {
      const [run] = query(
        "SELECT * FROM runs WHERE session_no = ? AND run_id = ?",
        no,
        page.run_id,
      ) as RunRow[];
      if (run === undefined) return [];
      from = run.first_seq;
      to = lastOf(run);
      only("run_index = ?", run.run_index);
    }
    if (page.tool_call_id !== undefined) only("tool_call_id = ?", asColumn(page.tool_call_id));
    if (page.after !== undefined) from = Math.max(from, asCount(page.after) + 1);
    if (page.before !== undefined) to = Math.min(to, asCount(page.before) - 1);
    only("place >= ?", base + Math.min(from, MOST_FACTS));
    only("place <= ?", base + to);
    const backwards = page.before !== undefined && page.after === undefined;
    const rows = query(
      `SELECT place - ? AS seq, line FROM facts WHERE ${where.join(" AND ")}
       ORDER BY place ${backwards ? "DESC" : "ASC"} LIMIT ?`,
      base,
      ...values,
      limit,
    ) as { seq: number; line: string }[];
    if (backwards) rows.reverse();
    return rows.map((row) => factOf(row, place));
  }

  function path(node_id: string): ConversationNode[] {
    const rows = query(
      `WITH RECURSIVE climb (node_id, parent_id) AS (
         SELECT node_id, parent_id FROM nodes WHERE session_no = ? AND node_id = ?
         UNION
         SELECT nodes.node_id, nodes.parent_id
         FROM climb JOIN nodes ON nodes.session_no = ? AND nodes.node_id = climb.parent_id
       ) SELECT nodes.node_id, nodes.parent_id, text
         FROM climb JOIN nodes ON nodes.session_no = ? AND nodes.node_id = climb.node_id`,
      no,
      node_id,
      no,
      no,
    ) as { node_id: string; parent_id: string | null; text: string }[];
    const byId = new Map(rows.map((row) => [row.node_id, row]));
    const upwards: ConversationNode[] = [];
    // Each once: a ring of parents ends where it began.
    for (let id: string | null = node_id; id !== null;) {
      const row = byId.get(id);
      if (row === undefined) break;
      byId.delete(id);
      upwards.push(nodeOf(row));
      id = row.parent_id;
    }
    return upwards.toReversed();
  }

  function findArtifact(artifact_id: string): ArtifactRecord | undefined {
    const [row] = query(
      "SELECT record FROM artifacts WHERE session_no = ? AND artifact_id = ?",
      no,
      artifact_id,
    ) as { record: string }[];
    return row && (JSON.parse(row.record) as ArtifactRecord);
  }
}

export function factOf(row: { seq: number; line: string }, place: SessionPlace): Fact {
  try {
    return JSON.parse(row.line) as Fact;
  } catch (error) {
    throw new StoreError(
      "store_corrupted",
      `Fact ${row.seq} of session ${place.session_id} in ${place.path} is not what was written; verify the session.`,
      { cause: error },
    );
  }
}

function nodeOf(row: object): ConversationNode {
  return JSON.parse((row as { text: string }).text) as ConversationNode;
}

/** Any number a caller gives: not below nothing, and not more than SQL can count. */
export function asCount(value: number): number {
  return Number.isNaN(value)
    ? 0
    : Math.min(Math.max(0, Math.floor(value)), Number.MAX_SAFE_INTEGER);
}
