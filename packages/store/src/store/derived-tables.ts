// The tables that follow from the facts of a session: what they hold, what they have to hold, and where they differ.

import type { ArtifactRecord } from "@soong/core";
import { StoreError } from "../contract/store-error.ts";
import type { ChainProblem } from "../contract/store.ts";
import {
  parseOpenState,
  type AgentRow,
  type CallRow,
  type OpenState,
  type RunRow,
  type SessionRow,
} from "../session/rows.ts";
import type { RowsOfFacts } from "../session/derived-rows.ts";
import type { SessionPlace } from "../session/session-reader.ts";
import { asColumn } from "../sql/columns.ts";
import { sql, type Steps } from "../sql/sql.ts";
import type { FactWalk } from "./walk-facts.ts";

type Row = Readonly<Record<string, string | number | null>>;
type Tables = Readonly<Record<TableName, readonly Row[]>>;

/** Each with what its rows are known by. */
const KEYS = {
  runs: "run_id",
  agents: "agent_id",
  calls: "requested_seq",
  artifacts: "artifact_id",
  open_state: "what",
} as const;

type TableName = keyof typeof KEYS;

/** The first row that is not what the facts say; the facts themselves are in order. */
export function* findDerivedProblem(
  place: SessionPlace,
  session: SessionRow,
  walk: FactWalk,
): Steps<ChainProblem | undefined> {
  const [fact] = walk.misfiledFacts;
  if (fact !== undefined) {
    return problemAt(fact.seq, `fact ${fact.seq} is filed under another ${fact.column}`);
  }
  const [node] = walk.misplacedNodes;
  if (node !== undefined) {
    return problemAt(node.seq, `node ${showShort(node.node_id)} hangs at another place`);
  }
  let held: Tables;
  try {
    held = yield* heldTables(place, session, walk.rows);
  } catch (error) {
    // A database that fails says nothing about what is in it.
    if (error instanceof StoreError && error.code !== "store_corrupted") throw error;
    return problemAt(session.last_seq, (error as Error).message);
  }
  return (
    compare(expectedTables(walk.rows), held, session.last_seq) ??
    (yield* misfiledArtifact(place, session.last_seq))
  );
}

function* misfiledArtifact(place: SessionPlace, lastSeq: number): Steps<ChainProblem | undefined> {
  for (const held of yield* heldArtifacts(place)) {
    const column = findChangedColumn(held);
    if (column === undefined) continue;
    const { artifact_id } = recordIn(held);
    return problemAt(
      lastSeq,
      `artifact ${showShort(artifact_id)} is filed under another ${column} than its record says`,
    );
  }
  return undefined;
}

function expectedTables(rows: RowsOfFacts): Tables {
  const records = [...rows.artifacts.values()];
  return buildTables(rows.runs, rows.agents, rows.calls, rows.openState(), records);
}

function* heldTables(place: SessionPlace, session: SessionRow, rows: RowsOfFacts): Steps<Tables> {
  const { session_no: no } = place;
  const records = (yield* heldArtifacts(place))
    .map(recordIn)
    .filter(({ artifact_id }) => rows.artifacts.has(artifact_id));
  return buildTables(
    yield* sql<RunRow>`SELECT * FROM runs WHERE session_no = ${no} ORDER BY run_index`,
    yield* sql<AgentRow>`SELECT * FROM agents WHERE session_no = ${no} ORDER BY agent_index`,
    yield* sql<CallRow>`SELECT * FROM calls WHERE session_no = ${no}`,
    parseOpenState(session),
    records,
  );
}

/** A row of the table: the record, and the columns by which it is found. */
export interface HeldArtifact {
  readonly artifact_id: string;
  readonly run_id: string;
  readonly tool_call_id: string | null;
  readonly created_at: string;
  readonly size: number;
  readonly record: string;
}

export function heldArtifacts({ session_no }: SessionPlace): Steps<HeldArtifact[]> {
  return sql<HeldArtifact>`SELECT * FROM artifacts WHERE session_no = ${session_no}`;
}

/** Throws where it is not JSON. */
export function recordIn({ record }: HeldArtifact): ArtifactRecord {
  return JSON.parse(record) as ArtifactRecord;
}

/** The first column that is not what the record says. */
export function findChangedColumn(held: HeldArtifact): string | undefined {
  const { artifact_id, run_id, tool_call_id = null, created_at, size } = recordIn(held);
  const said: Row = { artifact_id, run_id, tool_call_id, created_at, size };
  const columns: Row = { ...held };
  return Object.keys(said).find((name) => !isSameColumn(said[name], columns[name]));
}

/** A text that SQLite does not keep as it is says nothing. */
function isSameColumn(said: Row[string] | undefined, held: Row[string] | undefined): boolean {
  return said === held || (typeof said === "string" && asColumn(said) !== said);
}

/** While a run is under way, what changes with every commit is in the open state and not in its row. */
function buildTables(
  runs: readonly RunRow[],
  agents: readonly AgentRow[],
  calls: readonly CallRow[],
  open: OpenState,
  artifacts: readonly ArtifactRecord[],
): Tables {
  const openRuns = new Map(open.runs.map(([run_id, ...seqs]) => [run_id, seqs]));
  const active = new Map(open.active);
  return {
    runs: runs.map((run) => {
      const [last_seq = run.last_seq, last_run_seq = run.last_run_seq] =
        openRuns.get(run.run_id) ?? [];
      return omitSession({ ...run, last_seq, last_run_seq });
    }),
    agents: agents.map((agent) =>
      omitSession({ ...agent, active_node_id: active.get(agent.agent_id) ?? agent.active_node_id }),
    ),
    calls: [...calls, ...open.calls]
      .toSorted((a, b) => a.requested_seq - b.requested_seq)
      .map((call) => omitSession({ ...call })),
    artifacts: artifacts
      .map(({ artifact_id, sha256, size }) => ({ artifact_id, sha256, size }))
      .toSorted((a, b) => (a.artifact_id < b.artifact_id ? -1 : 1)),
    open_state: [
      { what: "runs", ids: [...openRuns.keys()].toSorted().join(" ") },
      { what: "agents", ids: [...active.keys()].toSorted().join(" ") },
    ],
  };
}

function omitSession({ session_no: _no, ...row }: Row & { session_no?: number }): Row {
  return row;
}

function compare(expected: Tables, held: Tables, lastSeq: number): ChainProblem | undefined {
  for (const table of Object.keys(KEYS) as TableName[]) {
    const key = KEYS[table];
    const rows = new Map(held[table].map((row) => [row[key], row]));
    for (const row of expected[table]) {
      const found = rows.get(row[key] ?? null);
      rows.delete(row[key] ?? null);
      const name = `${key} ${showShort(String(row[key]))} of ${table}`;
      const seq = Number(row["requested_seq"] ?? row["first_seq"] ?? lastSeq);
      if (found === undefined) return problemAt(seq, `${name} is missing`);
      const column = Object.keys(row).find((one) => row[one] !== found[one]);
      if (column !== undefined) {
        const [said, is] = [row[column], found[column]].map((one) => showShort(String(one)));
        return problemAt(seq, `${name} has ${column} ${is}, and the facts say ${said}`);
      }
    }
    for (const more of rows.keys()) {
      return problemAt(lastSeq, `no fact names ${key} ${showShort(String(more))} of ${table}`);
    }
  }
  return undefined;
}

function problemAt(seq: number, what: string): ChainProblem {
  const message = `The facts are as they were recorded, but what the store derives from them is not: ${what}.`;
  return { seq, kind: "derived", message };
}

function showShort(text: string): string {
  return text.slice(0, 100).replaceAll(/\p{C}/gu, "\u{FFFD}");
}
