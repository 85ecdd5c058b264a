// Tasks in the tables: a change is one transaction that no one else's comes between, so that what it has read stays true.

import type {
  TaskStorage,
  FoundRows,
  StatusPage,
  StoredTask,
  TaskPage,
  TaskSelection,
  PlannedChange,
  StepWrite,
  StoredStep,
} from "@soong/tasks";
import type { JsonObject } from "@soong/core";
import { StoreError } from "../contract/store-error.ts";
import {
  listed,
  raw,
  sql,
  sqlRow,
  FOR_UPDATE,
  type SqlDatabase,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";
import { asColumn, fromColumn, omitNulls } from "../sql/columns.ts";

export interface TaskTablesParts {
  readonly database: SqlDatabase;
  /** Throws on a store that is only read. */
  readonly writer: Pick<SqlWriter, "patientTransaction">;
  readonly sessionNumber: SessionNumber;
  /** Leases are judged by the clock of a database that is not on this machine. */
  readonly readClock?: ReadClock;
}

/** In milliseconds since the epoch. */
export type ReadClock = () => Steps<number>;

export function createTaskTables(parts: TaskTablesParts): TaskStorage {
  const { database, writer, sessionNumber, readClock } = parts;

  return {
    change: (selection, plan) =>
      writer.patientTransaction(function* () {
        yield* holdTask(selection);
        const planned = plan(yield* findRows(selection, readClock));
        yield* writeRows(selection.task_id, planned, sessionNumber);
        return planned.answer;
      }),
    read: async (selection) => database.snapshot(() => findRows(selection, readClock)),
    list: async (page) => database.run(listTasks(page)),
  };
}

function* holdTask({ task_id, tasks_of_session }: TaskSelection): Steps<void> {
  yield* sql`SELECT task_no FROM tasks WHERE task_id = ${asColumn(task_id)} ${FOR_UPDATE}`;
  if (tasks_of_session === undefined) return;
  yield* sql`SELECT session_no FROM sessions WHERE session_id = ${tasks_of_session} ${FOR_UPDATE}`;
}

// Finding what a selection asks for, each part by an index of its own.

const TASK = raw("SELECT tasks.*, session_id FROM tasks JOIN sessions USING (session_no)");

const STEP = raw(`SELECT steps.*, task_id, depends_on, definitions.content
  FROM task_steps AS steps
  JOIN task_step_definitions AS definitions USING (task_no, step_id)
  JOIN tasks USING (task_no)`);

function* findRows(selection: TaskSelection, readClock?: ReadClock): Steps<FoundRows> {
  const { task_id, tasks_of_session, claims_of } = selection;
  const task = yield* sqlRow<TaskRow>`${TASK} WHERE task_id = ${asColumn(task_id)}`;
  const found = new Map<string, StepRow>();
  const now = readClock && (yield* readClock());
  const until = selection.leases_until === undefined ? undefined : (now ?? selection.leases_until);
  if (task !== undefined) {
    for (const row of yield* findSteps(task.task_no, selection, until)) add(row);
  }
  if (claims_of !== undefined) {
    for (const row of yield* sql<StepRow>`${STEP} WHERE run_id = ${asColumn(claims_of)}`) add(row);
  }
  const steps = [...found.values()].toSorted((a, b) => a.position - b.position);
  return {
    ...(task === undefined ? {} : { task: toStoredTask(task) }),
    steps: steps.map(toStoredStep),
    ...(now !== undefined && { now }),
    ...(selection.counts === true ? { counts: yield* countSteps(task?.task_no) } : {}),
    ...(tasks_of_session === undefined
      ? {}
      : { session_tasks: yield* countSessionTasks(tasks_of_session) }),
  };

  function add(row: StepRow): void {
    found.set(`${row.task_no} ${row.step_id}`, row);
  }
}

function* listTasks(page: TaskPage): Steps<StoredTask[]> {
  const { session_id = null, limit } = page;
  const isAny = page.statuses === undefined ? 1 : 0;
  const after = asColumn(page.after);
  const rows =
    yield* sql<TaskRow>`${TASK} WHERE (CAST(${session_id} AS TEXT) IS NULL OR session_id = ${session_id})
      AND (CAST(${isAny} AS INTEGER) = 1 OR status IN (SELECT value FROM ${listed(page.statuses ?? [])}))
      AND (CAST(${after} AS TEXT) IS NULL OR task_no < (SELECT task_no FROM tasks WHERE task_id = ${after}))
    ORDER BY task_no DESC LIMIT ${asLimit(limit)}`;
  return rows.map(toStoredTask);
}

function* findSteps(
  task_no: number,
  selection: TaskSelection,
  leasesUntil: number | undefined,
): Steps<StepRow[]> {
  const { steps = [], with_dependents, with_status = [] } = selection;
  if (steps === "all") return yield* sql`${STEP} WHERE steps.task_no = ${task_no}`;
  const rows: StepRow[] = [];
  for (const page of with_status) rows.push(...(yield* readStepPage(task_no, page)));
  for (const id of steps) {
    const step_id = asColumn(id);
    rows.push(
      ...(yield* sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id = ${step_id}`),
    );
    if (with_dependents !== true) continue;
    rows.push(
      ...(yield* sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id IN
        (SELECT step_id FROM task_dependencies AS dependencies
          WHERE dependencies.task_no = ${task_no} AND depends_on = ${step_id})`),
    );
  }
  if (leasesUntil !== undefined) {
    rows.push(
      ...(yield* sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND lease_expires_at <= ${leasesUntil}`),
    );
  }
  return rows;
}

function* readStepPage(
  task_no: number,
  { statuses, after_position = -1, limit }: StatusPage,
): Steps<StepRow[]> {
  const most = asLimit(limit);
  if (statuses === undefined) {
    return yield* sql`${STEP} WHERE steps.task_no = ${task_no} AND position > ${after_position}
      ORDER BY position LIMIT ${most}`;
  }
  const rows: StepRow[] = [];
  // One status after the other: each is a walk along the index.
  for (const status of new Set(statuses)) {
    rows.push(
      ...(yield* sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.status = ${status}
          AND position > ${after_position} ORDER BY position LIMIT ${most}`),
    );
  }
  return rows.toSorted((a, b) => a.position - b.position).slice(0, most);
}

function* countSteps(task_no: number | undefined): Steps<Record<string, number>> {
  if (task_no === undefined) return {};
  const rows = yield* sql<{ status: string; count: number }>`SELECT status, count(*) AS count
    FROM task_steps WHERE task_no = ${task_no} GROUP BY status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function* countSessionTasks(session_id: string): Steps<number> {
  const row = yield* sqlRow<{ count: number }>`SELECT count(*) AS count
    FROM tasks JOIN sessions USING (session_no) WHERE session_id = ${session_id}`;
  return row?.count ?? 0;
}

/** SQLite takes a negative limit for none at all. */
function asLimit(limit: number): number {
  return Math.max(0, Math.trunc(Math.min(limit, 2 ** 31)));
}

// Writing what a plan wants written. A step's definition may be long and rarely changes: it has a row of its own, so that
// a claim does not copy it.

/** The number of a session that is there; throws when it is not. */
type SessionNumber = (session_id: string) => Steps<number>;

function* writeRows(
  task_id: string,
  planned: PlannedChange<unknown>,
  sessionNumber: SessionNumber,
): Steps<void> {
  const { task, steps = [], removed_steps = [] } = planned;
  if (task !== undefined) yield* writeTask(task, sessionNumber);
  const numbers = new Map<string, number>();
  for (const step_id of removed_steps) {
    yield* removeStep(yield* findTaskNumber(task_id), step_id);
  }
  for (const step of steps) yield* writeStep(yield* findTaskNumber(step.task_id), step);

  function* findTaskNumber(id: string): Steps<number> {
    let task_no = numbers.get(id);
    if (task_no === undefined) {
      const row = yield* sqlRow<TaskRow>`SELECT task_no FROM tasks WHERE task_id = ${asColumn(id)}`;
      if (row === undefined) throw refuseEntry(`There is no task ${id} to write a step of.`);
      task_no = row.task_no;
      numbers.set(id, task_no);
    }
    return task_no;
  }
}

function* writeTask(task: StoredTask, sessionNumber: SessionNumber): Steps<void> {
  const task_id = asColumn(task.task_id);
  const content = JSON.stringify(task.content);
  const known = yield* sql`UPDATE tasks
    SET status = ${task.status}, updated_at = ${task.updated_at}, content = ${content} WHERE task_id = ${task_id} RETURNING task_no`;
  if (known.length > 0) return;
  const session_no = yield* sessionNumber(task.session_id);
  yield* sql`INSERT INTO tasks (task_id, session_no, status, created_at, updated_at, content)
     VALUES (${task_id}, ${session_no}, ${task.status}, ${task.created_at}, ${task.updated_at}, ${content})`;
}

function* writeStep(task_no: number, step: StepWrite): Steps<void> {
  const step_id = asColumn(step.step_id);
  const { position, status, open_dependencies, run_id, lease_expires_at, definition } = step;
  if (definition !== undefined) {
    yield* removeDependencies(task_no, step_id);
    yield* sql`INSERT INTO task_step_definitions (task_no, step_id, depends_on, content)
       VALUES (${task_no}, ${step_id}, ${JSON.stringify(definition.depends_on)}, ${JSON.stringify(definition.content)})
       ON CONFLICT (task_no, step_id) DO UPDATE
       SET depends_on = excluded.depends_on, content = excluded.content`;
    for (const id of definition.depends_on) {
      yield* sql`INSERT INTO task_dependencies (task_no, depends_on, step_id)
        VALUES (${task_no}, ${asColumn(id)}, ${step_id}) ON CONFLICT DO NOTHING`;
    }
  }
  const claim = asColumn(run_id);
  const lease = lease_expires_at ?? null;
  const state = JSON.stringify(step.state);
  const known = yield* sql`UPDATE task_steps SET position = ${position}, status = ${status},
      open_dependencies = ${open_dependencies}, run_id = ${claim}, lease_expires_at = ${lease}, state = ${state}
    WHERE task_no = ${task_no} AND step_id = ${step_id} RETURNING 1`;
  if (known.length > 0) return;
  if (definition === undefined) {
    throw refuseEntry(`Step ${step.step_id} of task ${step.task_id} is new and has no definition.`);
  }
  yield* sql`INSERT INTO task_steps (position, status, open_dependencies, run_id, lease_expires_at, state,
      task_no, step_id)
    VALUES (${position}, ${status}, ${open_dependencies}, ${claim}, ${lease}, ${state}, ${task_no}, ${step_id})`;
}

function* removeStep(task_no: number, id: string): Steps<void> {
  const step_id = asColumn(id);
  yield* removeDependencies(task_no, step_id);
  for (const table of ["task_step_definitions", "task_steps"]) {
    yield* sql`DELETE FROM ${raw(table)} WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  }
}

/** By what it depends on, which is how they are found: there may be thousands of the task. */
function* removeDependencies(task_no: number, step_id: string): Steps<void> {
  const row = yield* sqlRow<{ depends_on: string }>`SELECT depends_on FROM task_step_definitions
    WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  if (row === undefined) return;
  for (const id of JSON.parse(row.depends_on) as string[]) {
    yield* sql`DELETE FROM task_dependencies
      WHERE task_no = ${task_no} AND depends_on = ${asColumn(id)} AND step_id = ${step_id}`;
  }
}

function refuseEntry(message: string): StoreError {
  return new StoreError("entry_refused", message);
}

// Rows of the task tables, and as their readers see them.

interface TaskRow {
  task_no: number;
  task_id: string;
  session_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  content: string;
}

interface StepRow {
  task_no: number;
  task_id: string;
  step_id: string;
  position: number;
  status: string;
  open_dependencies: number;
  run_id: string | null;
  lease_expires_at: number | null;
  state: string;
  depends_on: string;
  content: string;
}

function toStoredTask(row: TaskRow): StoredTask {
  const { session_id, status, created_at, updated_at } = row;
  const content = JSON.parse(row.content) as JsonObject;
  return { task_id: fromColumn(row.task_id), session_id, status, created_at, updated_at, content };
}

function toStoredStep(row: StepRow): StoredStep {
  const { position, status, open_dependencies, lease_expires_at } = row;
  return omitNulls({
    task_id: fromColumn(row.task_id),
    step_id: fromColumn(row.step_id),
    position,
    status,
    open_dependencies,
    run_id: fromColumn(row.run_id),
    lease_expires_at,
    state: JSON.parse(row.state) as JsonObject,
    definition: {
      depends_on: JSON.parse(row.depends_on) as string[],
      content: JSON.parse(row.content) as JsonObject,
    },
  });
}
