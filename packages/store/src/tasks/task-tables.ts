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
  forUpdateOf,
  listed,
  raw,
  sql,
  sqlRow,
  sqlWrite,
  together,
  type SqlDatabase,
  type SqlPart,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";
import { asColumn, fromColumn, omitNulls, readObject } from "../sql/columns.ts";

export interface TaskTablesParts {
  readonly database: SqlDatabase;
  /** Throws on a store that is only read. */
  readonly writer: Pick<SqlWriter, "patientTransaction">;
  readonly sessionNumber: SessionNumber;
  /** Leases are judged by the clock of a database that is not on this machine: its time, in milliseconds since the epoch. */
  readonly databaseClock?: SqlPart;
}

export function createTaskTables(parts: TaskTablesParts): TaskStorage {
  const { database, writer, sessionNumber, databaseClock: clock } = parts;

  return {
    change: (selection, plan) =>
      writer.patientTransaction(function* () {
        const found = yield* findRows(selection, { clock, isHeld: true });
        const planned = plan(toFoundRows(found, { isWritten: true }));
        yield* writeRows(selection.task_id, planned, found, sessionNumber);
        return planned.answer;
      }),
    read: async (selection) =>
      toFoundRows(await database.snapshot(() => findRows(selection, { clock, isHeld: false })), {
        isWritten: false,
      }),
    list: async (page) => database.run(listTasks(page)),
  };
}

// Finding what a selection asks for, each part by an index of its own, and all of them in one round trip.

const TASK = raw("SELECT tasks.*, session_id FROM tasks JOIN sessions USING (session_no)");

const STEP = raw(`SELECT steps.*, task_id, depends_on, definitions.content
  FROM task_steps AS steps
  JOIN task_step_definitions AS definitions USING (task_no, step_id)
  JOIN tasks USING (task_no)`);

interface FindOptions {
  readonly clock: SqlPart | undefined;
  /** No one else changes the task, or the steps that the run holds, until the transaction ends. */
  readonly isHeld: boolean;
}

interface Found extends Pick<FoundRows, "now" | "counts" | "session_tasks"> {
  readonly task: TaskRow | undefined;
  /** Each once, by position. */
  readonly steps: readonly StepRow[];
}

function* findRows(selection: TaskSelection, { clock, isHeld }: FindOptions): Steps<Found> {
  const { tasks_of_session: session_id, claims_of, counts, leases_until } = selection;
  const task_id = asColumn(selection.task_id);
  const task_no = raw("(SELECT task_no FROM tasks WHERE task_id = ?)", task_id);
  const hold = (table: string): SqlPart => (isHeld ? forUpdateOf(table) : raw(""));
  const [task, , own, claimed, now, countRows, sessionTasks] = yield* together(
    // First: what follows is read when the task is held.
    sqlRow<TaskRow>`${TASK} WHERE task_id = ${task_id} ${hold("tasks")}`,
    session_id === undefined
      ? nothing()
      : sql`SELECT session_no FROM sessions WHERE session_id = ${session_id} ${hold("sessions")}`,
    findSteps(task_no, selection, leases_until === undefined ? undefined : (clock ?? leases_until)),
    claims_of === undefined
      ? nothing()
      : sql<StepRow>`${STEP} WHERE run_id = ${asColumn(claims_of)} ${hold("steps")}`,
    clock === undefined ? nothing() : readClock(clock),
    counts === true ? countSteps(task_no) : nothing(),
    session_id === undefined ? nothing() : countSessionTasks(session_id),
  );
  const steps = new Map([...own, ...(claimed ?? [])].map((row) => [stepKey(row), row]));
  return {
    task,
    steps: [...steps.values()].toSorted((a, b) => a.position - b.position),
    ...(now !== undefined && { now }),
    ...(countRows !== undefined && { counts: countRows }),
    ...(sessionTasks !== undefined && { session_tasks: sessionTasks }),
  };
}

/** Asks for nothing. */
// oxlint-disable-next-line require-yield
function* nothing(): Steps<undefined> {
  return undefined;
}

export function* readClock(clock: SqlPart): Steps<number> {
  const row = yield* sqlRow<{ now: number }>`SELECT ${clock} AS now`;
  return (row as { now: number }).now;
}

function stepKey({ task_no, step_id }: Pick<StepRow, "task_no" | "step_id">): string {
  return `${task_no} ${step_id}`;
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
  return rows.map((row) => toStoredTask(row, { isWritten: false }));
}

function* findSteps(
  task_no: SqlPart,
  selection: TaskSelection,
  leasesUntil: number | SqlPart | undefined,
): Steps<StepRow[]> {
  const { steps = [], with_dependents, with_status = [] } = selection;
  if (steps === "all") return yield* sql`${STEP} WHERE steps.task_no = ${task_no}`;
  const ids = steps.map((id) => asColumn(id));
  const found = yield* together<StepRow[][]>(
    ...with_status.map((page) => readStepPage(task_no, page)),
    ...ids.map(
      (id) => sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id = ${id}`,
    ),
    ...(with_dependents === true ? ids : []).map(
      (id) => sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id IN
        (SELECT step_id FROM task_dependencies AS dependencies
          WHERE dependencies.task_no = ${task_no} AND depends_on = ${id})`,
    ),
    ...(leasesUntil === undefined ? [] : [leasesUntil]).map(
      (until) =>
        sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND lease_expires_at <= ${until}`,
    ),
  );
  return found.flat();
}

function* readStepPage(
  task_no: SqlPart,
  { statuses, after_position = -1, limit }: StatusPage,
): Steps<StepRow[]> {
  const most = asLimit(limit);
  if (statuses === undefined) {
    return yield* sql`${STEP} WHERE steps.task_no = ${task_no} AND position > ${after_position}
      ORDER BY position LIMIT ${most}`;
  }
  // Each status is a walk along the index.
  const pages = yield* together<StepRow[][]>(
    ...[...new Set(statuses)].map(
      (status) => sql<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.status = ${status}
          AND position > ${after_position} ORDER BY position LIMIT ${most}`,
    ),
  );
  return pages
    .flat()
    .toSorted((a, b) => a.position - b.position)
    .slice(0, most);
}

function* countSteps(task_no: SqlPart): Steps<Record<string, number>> {
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
  found: Found,
  sessionNumber: SessionNumber,
): Steps<void> {
  const { task, steps = [], removed_steps = [] } = planned;
  if (task !== undefined) yield* writeTask(task, found, sessionNumber);
  const known = new Set(found.steps.map(stepKey));
  const rows = found.task === undefined ? found.steps : [found.task, ...found.steps];
  const numbers = new Map(rows.map((row) => [fromColumn(row.task_id), row.task_no]));
  const ids = steps.map((step) => step.task_id);
  for (const id of new Set(removed_steps.length > 0 ? [task_id, ...ids] : ids)) {
    if (!numbers.has(id)) numbers.set(id, yield* findTaskNumber(id));
  }
  yield* together(...removed_steps.map((id) => removeStep(numberOf(task_id), id)));
  yield* together(...steps.map((step) => writeStep(numberOf(step.task_id), step, known)));

  function numberOf(id: string): number {
    return numbers.get(id) as number;
  }
}

function* findTaskNumber(id: string): Steps<number> {
  const row = yield* sqlRow<TaskRow>`SELECT task_no FROM tasks WHERE task_id = ${asColumn(id)}`;
  if (row === undefined) throw refuseEntry(`There is no task ${id} to write a step of.`);
  return row.task_no;
}

function* writeTask(task: StoredTask, found: Found, sessionNumber: SessionNumber): Steps<void> {
  const task_id = asColumn(task.task_id);
  const { status, created_at, updated_at } = task;
  const content = JSON.stringify(task.content);
  const isKnown = found.task?.task_id === task_id || (yield* isTaskThere(task_id));
  if (isKnown) {
    return yield* sqlWrite`UPDATE tasks
      SET status = ${status}, updated_at = ${updated_at}, content = ${content} WHERE task_id = ${task_id}`;
  }
  const session_no = yield* sessionNumber(task.session_id);
  yield* sqlWrite`INSERT INTO tasks (task_id, session_no, status, created_at, updated_at, content)
     VALUES (${task_id}, ${session_no}, ${status}, ${created_at}, ${updated_at}, ${content})`;
}

function* isTaskThere(task_id: string): Steps<boolean> {
  const rows = yield* sql`SELECT 1 FROM tasks WHERE task_id = ${task_id}`;
  return rows.length > 0;
}

function* writeStep(task_no: number, step: StepWrite, known: ReadonlySet<string>): Steps<void> {
  const step_id = asColumn(step.step_id);
  const { position, status, open_dependencies, definition } = step;
  const run_id = asColumn(step.run_id);
  const lease = step.lease_expires_at ?? null;
  const state = JSON.stringify(step.state);
  if (definition === undefined) {
    const isKnown = known.has(stepKey({ task_no, step_id }));
    if (!isKnown && !(yield* isStepThere(task_no, step_id))) {
      const message = `Step ${step.step_id} of task ${step.task_id} is new and has no definition.`;
      throw refuseEntry(message);
    }
    return yield* sqlWrite`UPDATE task_steps SET position = ${position}, status = ${status},
        open_dependencies = ${open_dependencies}, run_id = ${run_id}, lease_expires_at = ${lease}, state = ${state}
      WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  }
  yield* removeDependencies(task_no, step_id);
  yield* sqlWrite`INSERT INTO task_step_definitions (task_no, step_id, depends_on, content)
     VALUES (${task_no}, ${step_id}, ${JSON.stringify(definition.depends_on)}, ${JSON.stringify(definition.content)})
     ON CONFLICT (task_no, step_id) DO UPDATE
     SET depends_on = excluded.depends_on, content = excluded.content`;
  for (const id of definition.depends_on) {
    yield* sqlWrite`INSERT INTO task_dependencies (task_no, depends_on, step_id)
      VALUES (${task_no}, ${asColumn(id)}, ${step_id}) ON CONFLICT DO NOTHING`;
  }
  yield* sqlWrite`INSERT INTO task_steps (position, status, open_dependencies, run_id, lease_expires_at, state,
      task_no, step_id)
    VALUES (${position}, ${status}, ${open_dependencies}, ${run_id}, ${lease}, ${state}, ${task_no}, ${step_id})
    ON CONFLICT (task_no, step_id) DO UPDATE SET position = excluded.position, status = excluded.status,
      open_dependencies = excluded.open_dependencies, run_id = excluded.run_id,
      lease_expires_at = excluded.lease_expires_at, state = excluded.state`;
}

function* isStepThere(task_no: number, step_id: string): Steps<boolean> {
  const rows = yield* sql`SELECT 1 FROM task_steps
    WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  return rows.length > 0;
}

function* removeStep(task_no: number, id: string): Steps<void> {
  const step_id = asColumn(id);
  yield* removeDependencies(task_no, step_id);
  for (const table of ["task_step_definitions", "task_steps"]) {
    yield* sqlWrite`DELETE FROM ${raw(table)} WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  }
}

/** By what it depends on, which is how they are found: there may be thousands of the task. */
function* removeDependencies(task_no: number, step_id: string): Steps<void> {
  const row = yield* sqlRow<{ depends_on: string }>`SELECT depends_on FROM task_step_definitions
    WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  if (row === undefined) return;
  for (const id of JSON.parse(row.depends_on) as string[]) {
    yield* sqlWrite`DELETE FROM task_dependencies
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

interface Use {
  /** What is written back must be what was there. */
  readonly isWritten: boolean;
}

function toFoundRows({ task, steps, ...rest }: Found, use: Use): FoundRows {
  return {
    ...(task && { task: toStoredTask(task, use) }),
    steps: steps.map((row) => toStoredStep(row, use)),
    ...rest,
  };
}

function toStoredTask(row: TaskRow, use: Use): StoredTask {
  const { session_id, status, created_at, updated_at } = row;
  const task_id = fromColumn(row.task_id);
  const content = readContent(row.content, `task ${task_id}`, use);
  return {
    task_id,
    session_id,
    status,
    created_at,
    updated_at,
    content: content ?? UNREADABLE_TASK,
  };
}

function toStoredStep(row: StepRow, use: Use): StoredStep {
  const { position, status, open_dependencies, lease_expires_at } = row;
  const [task_id, step_id] = [fromColumn(row.task_id), fromColumn(row.step_id)];
  const what = `step ${step_id} of task ${task_id}`;
  const content = readContent(row.content, what, use);
  const state = readContent(row.state, what, use);
  return omitNulls({
    task_id,
    step_id,
    position,
    status,
    open_dependencies,
    run_id: fromColumn(row.run_id),
    lease_expires_at,
    state: state ?? UNREADABLE_STATE,
    definition: {
      depends_on: readIds(row.depends_on, what, use),
      content: content ?? UNREADABLE_STEP,
    },
  });
}

const UNREADABLE = "(what is stored of it cannot be read)";
const UNREADABLE_TASK: JsonObject = { title: UNREADABLE, goal: "" };
const UNREADABLE_STEP: JsonObject = { title: UNREADABLE, instructions: "" };
const UNREADABLE_STATE: JsonObject = { attempts: 0, max_attempts: 0, updated_at: "" };

/** Undefined: it can be shown that it is there, and no more. */
function readContent(column: string, what: string, { isWritten }: Use): JsonObject | undefined {
  const content = readObject(column);
  if (content === undefined && isWritten) throw refuseUnreadable(what);
  return content;
}

function readIds(column: string, what: string, { isWritten }: Use): string[] {
  const ids = readObject(`{"ids":${column}}`)?.["ids"];
  if (Array.isArray(ids) && ids.every((id) => typeof id === "string")) return ids;
  if (isWritten) throw refuseUnreadable(what);
  return [];
}

function refuseUnreadable(what: string): StoreError {
  return new StoreError(
    "store_corrupted",
    `What is stored of ${what} cannot be read, so it was not changed. Make a new task of what is left to do.`,
  );
}
