// Reading a session from its tables, also while it is held: facts by page, runs, calls, agents, the tree.

import type { ArtifactRecord, ConversationNode, Fact } from "@soong/core";
import type { ArtifactBytes } from "../artifacts/artifact-bytes.ts";
import { isArtifactId } from "../artifacts/file-artifacts.ts";
import { StoreError } from "../contract/store-error.ts";
import type { FactPage, SessionReader } from "../contract/store.ts";
import { asColumn } from "../sql/columns.ts";

import {
  agentRecord,
  callRecord,
  parentsFirst,
  runRecord,
  sessionRecord,
  parseArtifact,
  parseOpenState,
  factPlace,
  PLACES,
  type AgentRow,
  type CallRow,
  type OpenState,
  type RunRow,
  type SessionRow,
} from "./rows.ts";
import { raw, sql, sqlRow, type SqlDatabase, type Steps } from "../sql/sql.ts";

export interface SessionPlace {
  readonly database: SqlDatabase;
  readonly session_no: number;
  readonly session_id: string;
  readonly bytes: ArtifactBytes;
}

const DEFAULT_LIMIT = 1000;
/** As many as a session has room for. */
const MOST_FACTS = PLACES - 1;

export function sessionReader(place: SessionPlace): SessionReader {
  const { database, session_no: no, session_id } = place;

  return {
    session_id,
    record: async () => sessionRecord(await database.run(sessionRow())),
    facts: async (page = {}) => database.run(facts(page)),
    async agents() {
      const [{ active }, rows] = await database.snapshot(function* () {
        return [
          yield* openState(),
          yield* sql<AgentRow>`SELECT * FROM agents WHERE session_no = ${no} ORDER BY agent_index`,
        ] as const;
      });
      const moving = new Map(active);
      return parentsFirst(
        rows.map((row) =>
          agentRecord({ ...row, active_node_id: moving.get(row.agent_id) ?? row.active_node_id }),
        ),
      );
    },
    async runs() {
      const [{ runs: moving }, rows] = await database.snapshot(function* () {
        return [
          yield* openState(),
          yield* sql<RunRow>`SELECT * FROM runs WHERE session_no = ${no} ORDER BY run_index`,
        ] as const;
      });
      const lastSeqs = new Map(moving.map(([run_id, last_seq]) => [run_id, last_seq]));
      return rows.map((row) =>
        runRecord({ ...row, last_seq: lastSeqs.get(row.run_id) ?? row.last_seq }, session_id),
      );
    },
    async calls({ run_id, isOpen = false } = {}) {
      const [{ calls: open }, ended] = await database.snapshot(function* () {
        return [yield* openState(), isOpen ? [] : yield* endedCalls(run_id)] as const;
      });
      // An open one may be older than many that have ended.
      return [...ended, ...open.filter((call) => run_id === undefined || call.run_id === run_id)]
        .toSorted((a, b) => a.requested_seq - b.requested_seq)
        .map(callRecord);
    },
    async node(node_id) {
      const row = await database.run(
        sqlRow`SELECT text FROM nodes WHERE session_no = ${no} AND node_id = ${node_id}`,
      );
      return row && parseNode(row);
    },
    async children(node_id) {
      const rows = await database.run(
        node_id === undefined
          ? sql`SELECT text FROM nodes WHERE session_no = ${no} AND parent_id IS NULL ORDER BY seq, rowid`
          : sql`SELECT text FROM nodes WHERE session_no = ${no} AND parent_id = ${node_id}
            ORDER BY seq, rowid`,
      );
      return rows.map(parseNode);
    },
    path: async (node_id) => database.run(path(node_id)),
    async activePath(agent_id) {
      const active = await database.snapshot(() => activeNode(agent_id));
      return active === undefined ? [] : database.run(path(active));
    },
    async artifacts() {
      const rows = await database.run(
        sql<{
          record: string;
        }>`SELECT record FROM artifacts WHERE session_no = ${no} ORDER BY created_at, rowid`,
      );
      return rows.map(parseArtifact);
    },
    async readArtifact(artifact_id, range) {
      if (!isArtifactId(artifact_id)) return undefined;
      const record = await database.run(findArtifact(artifact_id));
      return record && place.bytes.read(place, record, range);
    },
  };

  function* sessionRow(): Steps<SessionRow> {
    const row = yield* sqlRow<SessionRow>`SELECT * FROM sessions WHERE session_no = ${no}`;
    if (row === undefined) {
      throw new StoreError("session_removed", `Session ${session_id} was removed.`);
    }
    return row;
  }

  function* openState(): Steps<OpenState> {
    return parseOpenState(yield* sessionRow());
  }

  function* activeNode(agent_id: string): Steps<string | undefined> {
    const moving = (yield* openState()).active.find(([id]) => id === agent_id);
    if (moving !== undefined) return moving[1];
    const row = yield* sqlRow<Pick<AgentRow, "active_node_id">>`SELECT active_node_id FROM agents
      WHERE session_no = ${no} AND agent_id = ${agent_id}`;
    return row?.active_node_id ?? undefined;
  }

  function* endedCalls(run_id: string | undefined): Steps<CallRow[]> {
    if (run_id === undefined) {
      return yield* sql<CallRow>`SELECT * FROM calls WHERE session_no = ${no}`;
    }
    const run =
      yield* sqlRow<RunRow>`SELECT * FROM runs WHERE session_no = ${no} AND run_id = ${run_id}`;
    if (run === undefined) return [];
    return yield* sql<CallRow>`SELECT * FROM calls
      WHERE session_no = ${no} AND requested_seq BETWEEN ${run.first_seq} AND ${findLastSeq(run)} AND run_id = ${run_id}`;
  }

  /** Of a run under way the row does not know. */
  function findLastSeq({ ended_at, last_seq }: RunRow): number {
    return ended_at === null ? MOST_FACTS : last_seq;
  }

  function* facts(page: FactPage): Steps<Fact[]> {
    const limit = asCount(page.limit ?? DEFAULT_LIMIT);
    let run_index: number | null = null;
    let from = 1;
    let to = MOST_FACTS;
    if (page.run_id !== undefined) {
      const run =
        yield* sqlRow<RunRow>`SELECT * FROM runs WHERE session_no = ${no} AND run_id = ${page.run_id}`;
      if (run === undefined) return [];
      from = run.first_seq;
      to = findLastSeq(run);
      run_index = run.run_index;
    }
    const call = asColumn(page.tool_call_id);
    if (page.after !== undefined) from = Math.max(from, asCount(page.after) + 1);
    if (page.before !== undefined) to = Math.min(to, asCount(page.before) - 1);
    const backwards = page.before !== undefined && page.after === undefined;
    const rows = yield* sql<{
      seq: number;
      line: string;
    }>`SELECT place - ${factPlace(no, 0)} AS seq, line FROM facts
      WHERE place BETWEEN ${factPlace(no, Math.min(from, MOST_FACTS))} AND ${factPlace(no, to)}
        AND (CAST(${run_index} AS INTEGER) IS NULL OR run_index = ${run_index})
        AND (CAST(${call} AS TEXT) IS NULL OR tool_call_id = ${call})
      ORDER BY place ${raw(backwards ? "DESC" : "ASC")} LIMIT ${limit}`;
    if (backwards) rows.reverse();
    return rows.map((row) => parseFact(row, place));
  }

  function* path(node_id: string): Steps<ConversationNode[]> {
    const rows = yield* sql<{
      node_id: string;
      parent_id: string | null;
      text: string;
    }>`WITH RECURSIVE climb (node_id, parent_id) AS (
         SELECT node_id, parent_id FROM nodes WHERE session_no = ${no} AND node_id = ${node_id}
         UNION
         SELECT nodes.node_id, nodes.parent_id
         FROM climb JOIN nodes ON nodes.session_no = ${no} AND nodes.node_id = climb.parent_id
       ) SELECT nodes.node_id, nodes.parent_id, text
         FROM climb JOIN nodes ON nodes.session_no = ${no} AND nodes.node_id = climb.node_id`;
    const byId = new Map(rows.map((row) => [row.node_id, row]));
    const upwards: ConversationNode[] = [];
    // Each once: a ring of parents ends where it began.
    for (let id: string | null = node_id; id !== null;) {
      const row = byId.get(id);
      if (row === undefined) break;
      byId.delete(id);
      upwards.push(parseNode(row));
      id = row.parent_id;
    }
    return upwards.toReversed();
  }

  function* findArtifact(artifact_id: string): Steps<ArtifactRecord | undefined> {
    const row = yield* sqlRow<{ record: string }>`SELECT record FROM artifacts
      WHERE session_no = ${no} AND artifact_id = ${artifact_id}`;
    return row && parseArtifact(row);
  }
}

export function parseFact(
  row: { seq: number; line: string },
  {
    session_id,
    database,
  }: Pick<SessionPlace, "session_id"> & { readonly database: { name: string } },
): Fact {
  try {
    return JSON.parse(row.line) as Fact;
  } catch (error) {
    throw new StoreError(
      "store_corrupted",
      `Fact ${row.seq} of session ${session_id} in ${database.name} is not what was written; \`soong verify ${session_id}\` says more.`,
      { cause: error },
    );
  }
}

function parseNode(row: object): ConversationNode {
  return JSON.parse((row as { text: string }).text) as ConversationNode;
}

/** Any number a caller gives: not below nothing, and not more than SQL can count. */
export function asCount(value: number): number {
  return Number.isNaN(value)
    ? 0
    : Math.min(Math.max(0, Math.floor(value)), Number.MAX_SAFE_INTEGER);
}
