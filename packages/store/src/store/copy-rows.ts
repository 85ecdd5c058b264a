// The rows of a session as they are, column by column: read from one database and added to another, many at a time. Numbers by
// which a database counts its sessions and tasks are its own.

import type { ArtifactRecord } from "@soong/core";
import { factPlace, parseArtifact, type SessionRow } from "../session/rows.ts";
import { raw, sql, sqlRow, SqlPart, type SqlValue, type Steps } from "../sql/sql.ts";

type Row = Readonly<Record<string, SqlValue>>;
type Columns = Readonly<Record<string, "TEXT" | "BIGINT">>;

const FACTS: Columns = {
  seq: "BIGINT",
  type: "TEXT",
  run_index: "BIGINT",
  tool_call_id: "TEXT",
  line: "TEXT",
};
const NODES: Columns = { node_id: "TEXT", parent_id: "TEXT", seq: "BIGINT", text: "TEXT" };

/** Of a session, each with the order its rows have. */
const TABLES = {
  runs: {
    order: "run_index",
    columns: {
      run_index: "BIGINT",
      run_id: "TEXT",
      agent_id: "TEXT",
      parent_run_id: "TEXT",
      role: "TEXT",
      status: "TEXT",
      started_at: "TEXT",
      ended_at: "TEXT",
      first_seq: "BIGINT",
      last_seq: "BIGINT",
      last_run_seq: "BIGINT",
    },
  },
  agents: {
    order: "agent_index",
    columns: {
      agent_index: "BIGINT",
      agent_id: "TEXT",
      parent_agent_id: "TEXT",
      active_node_id: "TEXT",
    },
  },
  calls: {
    order: "requested_seq",
    columns: {
      requested_seq: "BIGINT",
      run_id: "TEXT",
      tool_call_id: "TEXT",
      tool_name: "TEXT",
      started_seq: "BIGINT",
      ended_seq: "BIGINT",
      status: "TEXT",
    },
  },
  artifacts: {
    order: "rowid",
    columns: {
      artifact_id: "TEXT",
      run_id: "TEXT",
      tool_call_id: "TEXT",
      created_at: "TEXT",
      size: "BIGINT",
      record: "TEXT",
    },
  },
  questions: {
    order: "asked_at, question_id",
    columns: {
      question_id: "TEXT",
      run_id: "TEXT",
      agent_id: "TEXT",
      tool_call_id: "TEXT",
      kind: "TEXT",
      tool_name: "TEXT",
      digest: "TEXT",
      asked_at: "TEXT",
      state: "TEXT",
      request: "TEXT",
      answer: "TEXT",
      answered_by: "TEXT",
      answered_at: "TEXT",
    },
  },
} as const satisfies Readonly<Record<string, { order: string; columns: Columns }>>;

const TASK: Columns = {
  task_id: "TEXT",
  status: "TEXT",
  created_at: "TEXT",
  updated_at: "TEXT",
  content: "TEXT",
};

/** Of a task. */
const TASK_TABLES = {
  task_steps: {
    step_id: "TEXT",
    position: "BIGINT",
    status: "TEXT",
    open_dependencies: "BIGINT",
    run_id: "TEXT",
    lease_expires_at: "BIGINT",
    state: "TEXT",
  },
  task_step_definitions: { step_id: "TEXT", depends_on: "TEXT", content: "TEXT" },
  task_dependencies: { depends_on: "TEXT", step_id: "TEXT" },
} as const satisfies Readonly<Record<string, Columns>>;

/** Every column that is copied, by table; a test holds it against the tables. */
export const COPIED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  facts: Object.keys(FACTS),
  nodes: Object.keys(NODES),
  tasks: Object.keys(TASK),
  ...Object.fromEntries(
    Object.entries(TABLES).map(([table, { columns }]) => [table, Object.keys(columns)]),
  ),
  ...Object.fromEntries(
    Object.entries(TASK_TABLES).map(([table, columns]) => [table, Object.keys(columns)]),
  ),
};

/** All rows of a session but those of facts and nodes, of which there may be too many for memory. */
export interface SmallRows {
  readonly session: SessionRow;
  readonly tables: Readonly<Record<keyof typeof TABLES, readonly Row[]>>;
  readonly tasks: readonly TaskRows[];
}

interface TaskRows {
  readonly task: Row;
  readonly tables: Readonly<Record<keyof typeof TASK_TABLES, readonly Row[]>>;
}

export function* readSmallRows(session: SessionRow): Steps<SmallRows> {
  const { session_no: no } = session;
  const tables = {} as Record<keyof typeof TABLES, Row[]>;
  for (const [table, { order }] of Object.entries(TABLES)) {
    tables[table as keyof typeof TABLES] = yield* sql`SELECT * FROM ${raw(table)}
      WHERE session_no = ${no} ORDER BY ${raw(order)}`;
  }
  const tasks: TaskRows[] = [];
  for (const task of yield* sql<Row & { task_no: number }>`SELECT * FROM tasks
    WHERE session_no = ${no} ORDER BY task_no`) {
    const ofTask = {} as Record<keyof typeof TASK_TABLES, Row[]>;
    for (const table of Object.keys(TASK_TABLES) as (keyof typeof TASK_TABLES)[]) {
      ofTask[table] = yield* sql`SELECT * FROM ${raw(table)} WHERE task_no = ${task.task_no}`;
    }
    tasks.push({ task, tables: ofTask });
  }
  return { session, tables, tasks };
}

export function readRecords({ tables }: SmallRows): ArtifactRecord[] {
  return tables.artifacts.map(({ record }) => parseArtifact({ record: String(record) }));
}

/** Answers with the row as it is here. */
export function* addSession(row: SessionRow): Steps<SessionRow> {
  const { session_id, created_at, updated_at, title, project } = row;
  const { last_seq, head_hash, bytes, open_state } = row;
  const added =
    yield* sqlRow<SessionRow>`INSERT INTO sessions (session_id, created_at, updated_at, title, project,
      last_seq, head_hash, bytes, open_state)
    VALUES (${session_id}, ${created_at}, ${updated_at}, ${title}, ${project}, ${last_seq}, ${head_hash}, ${bytes},
      ${open_state}) RETURNING *`;
  return added as SessionRow;
}

export function* addSmallRows({ tables, tasks }: SmallRows, session_no: number): Steps<void> {
  const owner = { name: "session_no", value: session_no };
  for (const [table, { columns }] of Object.entries(TABLES)) {
    for (const rows of inPages(tables[table as keyof typeof TABLES])) {
      yield* addRows(table, owner, columns, formatRows(rows, columns));
    }
  }
  for (const { task, tables: ofTask } of tasks) {
    yield* addRows("tasks", owner, TASK, formatRows([task], TASK));
    const added = yield* sqlRow<{ task_no: number }>`SELECT task_no FROM tasks
      WHERE task_id = ${task["task_id"] ?? null}`;
    const ownTask = { name: "task_no", value: added?.task_no ?? 0 };
    for (const [table, columns] of Object.entries(TASK_TABLES)) {
      for (const rows of inPages(ofTask[table as keyof typeof TASK_TABLES])) {
        yield* addRows(table, ownTask, columns, formatRows(rows, columns));
      }
    }
  }
}

export function formatFacts(rows: readonly object[]): string {
  return formatRows(rows as Row[], FACTS);
}

export function formatNodes(rows: readonly object[]): string {
  return formatRows(rows as Row[], NODES);
}

/** As `formatFacts` gave them. */
export function addFacts(page: string, session_no: number): Steps<unknown> {
  const { seq: _seq, ...columns } = FACTS;
  return sql`INSERT INTO facts (place, ${raw(Object.keys(columns).join(", "))})
    SELECT CAST(value ->> 'seq' AS BIGINT) + CAST(${factPlace(session_no, 0)} AS BIGINT), ${select(columns)}
    FROM ${given(page)}`;
}

export function addNodes(page: string, session_no: number): Steps<unknown> {
  return addRows("nodes", { name: "session_no", value: session_no }, NODES, page);
}

function addRows(
  table: string,
  owner: { readonly name: string; readonly value: number },
  columns: Columns,
  page: string,
): Steps<unknown> {
  return sql`INSERT INTO ${raw(table)} (${raw([owner.name, ...Object.keys(columns)].join(", "))})
    SELECT CAST(${owner.value} AS BIGINT), ${select(columns)} FROM ${given(page)}`;
}

/** Both databases read JSON in the same words. */
function select(columns: Columns): SqlPart {
  const values = Object.entries(columns).map(
    ([name, type]) => `CAST(value ->> '${name}' AS ${type})`,
  );
  return raw(values.join(", "));
}

function given(page: string): SqlPart {
  const words = {
    sqlite: "json_each(?)",
    postgres: "json_array_elements(CAST(? AS json)) AS given (value)",
  };
  return new SqlPart(words, page);
}

function formatRows(rows: readonly Row[], columns: Columns): string {
  const names = Object.keys(columns);
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]))),
  );
}

const PAGE = 500;

function* inPages<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += PAGE) yield rows.slice(at, at + PAGE);
}
