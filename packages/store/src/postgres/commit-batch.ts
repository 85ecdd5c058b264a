// Writes a batch in one statement. It updates the session's row only if this process still holds the lease and the head has not
// changed; all inserts select from that row. So a former holder writes nothing, however late its statement arrives.

import type { ArtifactRecord } from "@soong/core";
import type { QueryConfig } from "pg";
import { asColumn } from "../sql/columns.ts";
import { factPlace } from "../session/rows.ts";
import type { Batch } from "../session/write-rows.ts";
import { encodeTexts } from "./text-array.ts";

type Column<Row> = readonly [name: string, type: string, value: (row: Row) => unknown];

/** Statement texts by name. Each is prepared once for a connection. */
const texts = new Map<string, string>();

export interface CommitOptions {
  readonly epoch: number;
  readonly leaseMs: number;
}

/** An answer without a row means that the head has changed, or that the lease or the epoch is not this holder's any more. */
export function toCommitQuery(batch: Batch, { epoch, leaseMs }: CommitOptions): QueryConfig {
  const { session, before } = batch;
  const { session_no, updated_at, last_seq, head_hash, bytes, open_state } = session;
  const values: unknown[] = [
    updated_at,
    last_seq,
    head_hash,
    bytes,
    open_state,
    leaseMs,
    session_no,
    epoch,
    before.last_seq,
    before.head_hash,
  ];
  let name = "commit";
  for (const { table, columns, find } of PARTS) {
    const rows = find(batch);
    if (rows.length === 0) continue;
    name += isSingle(rows) ? ` ${table}` : ` ${table}[]`;
    for (const [, type, read] of columns) {
      const cells = rows.map((row) => read(row as never, session_no));
      if (isSingle(rows)) values.push(cells[0]);
      else values.push(type === "text" ? encodeTexts(cells as (string | null)[]) : cells);
    }
  }
  let text = texts.get(name);
  if (text === undefined) {
    text = writeText(batch);
    texts.set(name, text);
  }
  return { name, text, values };
}

/** A single row is sent as plain parameters: a list of one costs the server half as much again. */
function isSingle(rows: readonly object[]): boolean {
  return rows.length === 1;
}

interface Part {
  readonly table: string;
  readonly columns: readonly (readonly [
    name: string,
    type: string,
    read: (row: never, session_no: number) => unknown,
  ])[];
  readonly find: (batch: Batch) => readonly object[];
  readonly onConflict?: string;
}

const PARTS: readonly Part[] = [
  part<Batch["runs"][number]>(
    "runs",
    (batch) => batch.runs,
    [
      ["run_index", "int", (row) => row.run_index],
      ["run_id", "text", (row) => row.run_id],
      ["agent_id", "text", (row) => row.agent_id],
      ["parent_run_id", "text", (row) => row.parent_run_id],
      ["role", "text", (row) => row.role],
      ["status", "text", (row) => row.status],
      ["started_at", "text", (row) => row.started_at],
      ["ended_at", "text", (row) => row.ended_at],
      ["first_seq", "bigint", (row) => row.first_seq],
      ["last_seq", "bigint", (row) => row.last_seq],
      ["last_run_seq", "bigint", (row) => row.last_run_seq],
    ],
    `ON CONFLICT (session_no, run_index) DO UPDATE SET role = excluded.role, status = excluded.status,
      ended_at = excluded.ended_at, last_seq = excluded.last_seq, last_run_seq = excluded.last_run_seq`,
  ),
  part<Batch["agents"][number]>(
    "agents",
    (batch) => batch.agents,
    [
      ["agent_index", "int", (row) => row.agent_index],
      ["agent_id", "text", (row) => row.agent_id],
      ["parent_agent_id", "text", (row) => row.parent_agent_id],
      ["active_node_id", "text", (row) => row.active_node_id],
    ],
    `ON CONFLICT (session_no, agent_index) DO UPDATE SET active_node_id = excluded.active_node_id`,
  ),
  part<Batch["calls"][number]>("calls", (batch) => batch.calls, [
    ["requested_seq", "bigint", (row) => row.requested_seq],
    ["run_id", "text", (row) => row.run_id],
    ["tool_call_id", "text", (row) => row.tool_call_id],
    ["tool_name", "text", (row) => row.tool_name],
    ["started_seq", "bigint", (row) => row.started_seq],
    ["ended_seq", "bigint", (row) => row.ended_seq],
    ["status", "text", (row) => row.status],
  ]),
  part<Batch["nodes"][number]>("nodes", (batch) => batch.nodes, [
    ["node_id", "text", (row) => row.node_id],
    ["parent_id", "text", (row) => row.parent_id],
    ["seq", "bigint", (row) => row.seq],
    ["text", "text", (row) => row.text],
  ]),
  part<ArtifactRecord>(
    "artifacts",
    (batch) => batch.artifacts,
    [
      ["artifact_id", "text", (row) => row.artifact_id],
      ["run_id", "text", (row) => asColumn(row.run_id)],
      ["tool_call_id", "text", (row) => asColumn(row.tool_call_id)],
      ["created_at", "text", (row) => row.created_at],
      ["size", "bigint", (row) => row.size],
      ["record", "text", (row) => JSON.stringify(row)],
    ],
    // A batch without facts does not change the head, so it may be sent twice.
    "ON CONFLICT DO NOTHING",
  ),
  {
    table: "facts",
    find: (batch) => batch.facts,
    columns: [
      ["place", "bigint", (row: Batch["facts"][number], no: number) => factPlace(no, row.seq)],
      ["type", "text", (row: Batch["facts"][number]) => row.type],
      ["run_index", "int", (row: Batch["facts"][number]) => row.run_index],
      ["tool_call_id", "text", (row: Batch["facts"][number]) => row.tool_call_id],
      ["line", "text", (row: Batch["facts"][number]) => row.line],
    ],
  },
];

/** A table whose rows begin with the number of their session. */
function part<Row extends object>(
  table: string,
  find: (batch: Batch) => readonly Row[],
  columns: readonly Column<Row>[],
  onConflict?: string,
): Part {
  const own: Part["columns"] = [
    ["session_no", "bigint", (_row: Row, no: number) => no],
    ...columns,
  ];
  return { table, find, columns: own, ...(onConflict !== undefined && { onConflict }) };
}

function writeText(batch: Batch): string {
  let used = 10;
  const inserts = PARTS.flatMap(({ table, columns, find, onConflict = "" }) => {
    const rows = find(batch);
    if (rows.length === 0) return [];
    const list = isSingle(rows) ? "" : "[]";
    const names = columns.map(([name]) => name).join(", ");
    const cells = columns.map(([, type]) => `$${(used += 1)}::${type}${list}`).join(", ");
    const given = isSingle(rows)
      ? `${cells} FROM head`
      : `given.* FROM head, unnest(${cells}) AS given (${names})`;
    return `, ${table}_in AS (INSERT INTO ${table} (${names}) SELECT ${given} ${onConflict})`;
  });
  return `WITH head AS (
      UPDATE sessions SET updated_at = $1, last_seq = $2, head_hash = $3, bytes = $4, open_state = $5,
        lease_until = clock_timestamp() + $6 * interval '1 millisecond'
      WHERE session_no = $7 AND epoch = $8 AND last_seq = $9 AND head_hash = $10
        AND lease_until > clock_timestamp() RETURNING session_no
    )${inserts.join("")} SELECT 1 FROM head`;
}
