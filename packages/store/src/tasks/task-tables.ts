// Tasks on SQLite: a change is one transaction, begun for writing, so that no one else changes what it has read.

import { raw } from "../sqlite/query.ts";
import { setTimeout as delay } from "node:timers/promises";
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
import type { Query } from "../sqlite/query.ts";
import { asColumn, fromColumn, omitNulls } from "../sqlite/sqlite-error.ts";

interface TaskTablesParts {
  readonly query: Query;
  /** All of the work or nothing, soon or with `store_locked`; throws on a store that is only read. */
  readonly tryTransaction: <T>(work: () => T) => T;
  readonly sessionNumber: SessionNumber;
  /** How long to wait for others who are writing. */
  readonly busyTimeoutMs: number;
}

/** Many processes claim steps at the same time: each waits a little, not the same, and asks again. */
const LONGEST_PAUSE_MS = 40;

export function createTaskTables(parts: TaskTablesParts): TaskStorage {
  const { query, tryTransaction, sessionNumber, busyTimeoutMs } = parts;

  return {
    change: (selection, plan) =>
      inTurn(() =>
        tryTransaction(() => {
          const planned = plan(findRows(query, selection));
          writeRows(query, selection.task_id, planned, sessionNumber);
          return planned.answer;
        }),
      ),
    async read(selection) {
      query`BEGIN`;
      try {
        return findRows(query, selection);
      } finally {
        query`COMMIT`;
      }
    },
    list: async (page) => listTasks(query, page),
  };

  /** Without holding up the process, which has heartbeats to send and calls to run. */
  async function inTurn<T>(attempt: () => T): Promise<T> {
    const until = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        return attempt();
      } catch (error) {
        const isBusy = error instanceof StoreError && error.code === "store_locked";
        if (!isBusy || performance.now() >= until) throw error;
      }
      await delay(1 + Math.random() * LONGEST_PAUSE_MS);
    }
  }
}

// Finding what a selection asks for, each part by an index of its own.

const TASK = raw("SELECT tasks.*, session_id FROM tasks JOIN sessions USING (session_no)");

const STEP = raw(`SELECT steps.*, task_id, depends_on, definitions.content
  FROM task_steps AS steps
  JOIN task_step_definitions AS definitions USING (task_no, step_id)
  JOIN tasks USING (task_no)`);

function findRows(query: Query, selection: TaskSelection): FoundRows {
  const { task_id, tasks_of_session, claims_of } = selection;
  const [task] = query<TaskRow>`${TASK} WHERE task_id = ${asColumn(task_id)}`;
  const found = new Map<string, StepRow>();
  if (task !== undefined) for (const row of findSteps(query, task.task_no, selection)) add(row);
  if (claims_of !== undefined) {
    for (const row of query<StepRow>`${STEP} WHERE run_id = ${asColumn(claims_of)}`) add(row);
  }
  const steps = [...found.values()].toSorted((a, b) => a.position - b.position);
  return {
    ...(task === undefined ? {} : { task: toStoredTask(task) }),
    steps: steps.map(toStoredStep),
    ...(selection.counts === true ? { counts: countSteps(query, task?.task_no) } : {}),
    ...(tasks_of_session === undefined
      ? {}
      : { session_tasks: countSessionTasks(query, tasks_of_session) }),
  };

  function add(row: StepRow): void {
    found.set(`${row.task_no} ${row.step_id}`, row);
  }
}

function listTasks(query: Query, page: TaskPage): StoredTask[] {
  const { session_id = null, limit } = page;
  const statuses = page.statuses === undefined ? null : JSON.stringify(page.statuses);
  const after = asColumn(page.after);
  const rows = query<TaskRow>`${TASK} WHERE (${session_id} IS NULL OR session_id = ${session_id})
      AND (${statuses} IS NULL OR status IN (SELECT value FROM json_each(${statuses})))
      AND (${after} IS NULL OR task_no < (SELECT task_no FROM tasks WHERE task_id = ${after}))
    ORDER BY task_no DESC LIMIT ${asLimit(limit)}`;
  return rows.map(toStoredTask);
}

function findSteps(query: Query, task_no: number, selection: TaskSelection): StepRow[] {
  const { steps = [], with_dependents, with_status = [], leases_until } = selection;
  if (steps === "all") return query`${STEP} WHERE steps.task_no = ${task_no}`;
  const rows = with_status.flatMap((page) => readStepPage(query, task_no, page));
  for (const id of steps) {
    const step_id = asColumn(id);
    rows.push(
      ...query<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id = ${step_id}`,
    );
    if (with_dependents !== true) continue;
    rows.push(
      ...query<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.step_id IN
        (SELECT step_id FROM task_dependencies WHERE task_no = tasks.task_no AND depends_on = ${step_id})`,
    );
  }
  if (leases_until !== undefined) {
    rows.push(
      ...query<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND lease_expires_at <= ${leases_until}`,
    );
  }
  return rows;
}

function readStepPage(
  query: Query,
  task_no: number,
  { statuses, after_position = -1, limit }: StatusPage,
): StepRow[] {
  const most = asLimit(limit);
  if (statuses === undefined) {
    return query`${STEP} WHERE steps.task_no = ${task_no} AND position > ${after_position}
      ORDER BY position LIMIT ${most}`;
  }
  // One status after the other: each is a walk along the index.
  return [...new Set(statuses)]
    .flatMap(
      (status) =>
        query<StepRow>`${STEP} WHERE steps.task_no = ${task_no} AND steps.status = ${status}
          AND position > ${after_position} ORDER BY position LIMIT ${most}`,
    )
    .toSorted((a, b) => a.position - b.position)
    .slice(0, most);
}

function countSteps(query: Query, task_no: number | undefined): Record<string, number> {
  if (task_no === undefined) return {};
  const rows = query<{ status: string; count: number }>`SELECT status, count(*) AS count
    FROM task_steps WHERE task_no = ${task_no} GROUP BY status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function countSessionTasks(query: Query, session_id: string): number {
  const [row] = query<{ count: number }>`SELECT count(*) AS count
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
type SessionNumber = (session_id: string) => number;

function writeRows(
  query: Query,
  task_id: string,
  planned: PlannedChange<unknown>,
  sessionNumber: SessionNumber,
): void {
  const { task, steps = [], removed_steps = [] } = planned;
  if (task !== undefined) writeTask(query, task, sessionNumber);
  const numbers = new Map<string, number>();
  for (const step_id of removed_steps) removeStep(query, findTaskNumber(task_id), step_id);
  for (const step of steps) writeStep(query, findTaskNumber(step.task_id), step);

  function findTaskNumber(id: string): number {
    let task_no = numbers.get(id);
    if (task_no === undefined) {
      const [row] = query<TaskRow>`SELECT task_no FROM tasks WHERE task_id = ${asColumn(id)}`;
      if (row === undefined) throw refuseEntry(`There is no task ${id} to write a step of.`);
      task_no = row.task_no;
      numbers.set(id, task_no);
    }
    return task_no;
  }
}

function writeTask(query: Query, task: StoredTask, sessionNumber: SessionNumber): void {
  const task_id = asColumn(task.task_id);
  const content = JSON.stringify(task.content);
  const known = query`UPDATE tasks
    SET status = ${task.status}, updated_at = ${task.updated_at}, content = ${content} WHERE task_id = ${task_id} RETURNING task_no`;
  if (known.length > 0) return;
  query`INSERT INTO tasks (task_id, session_no, status, created_at, updated_at, content)
     VALUES (${task_id}, ${sessionNumber(task.session_id)}, ${task.status}, ${task.created_at}, ${task.updated_at}, ${content})`;
}

function writeStep(query: Query, task_no: number, step: StepWrite): void {
  const step_id = asColumn(step.step_id);
  const { position, status, open_dependencies, run_id, lease_expires_at, definition } = step;
  if (definition !== undefined) {
    removeDependencies(query, task_no, step_id);
    query`INSERT OR REPLACE INTO task_step_definitions (task_no, step_id, depends_on, content)
       VALUES (${task_no}, ${step_id}, ${JSON.stringify(definition.depends_on)}, ${JSON.stringify(definition.content)})`;
    for (const id of definition.depends_on) {
      query`INSERT OR IGNORE INTO task_dependencies (task_no, depends_on, step_id)
        VALUES (${task_no}, ${asColumn(id)}, ${step_id})`;
    }
  }
  const claim = asColumn(run_id);
  const lease = lease_expires_at ?? null;
  const state = JSON.stringify(step.state);
  const known = query`UPDATE task_steps SET position = ${position}, status = ${status},
      open_dependencies = ${open_dependencies}, run_id = ${claim}, lease_expires_at = ${lease}, state = ${state}
    WHERE task_no = ${task_no} AND step_id = ${step_id} RETURNING 1`;
  if (known.length > 0) return;
  if (definition === undefined) {
    throw refuseEntry(`Step ${step.step_id} of task ${step.task_id} is new and has no definition.`);
  }
  query`INSERT INTO task_steps (position, status, open_dependencies, run_id, lease_expires_at, state,
      task_no, step_id)
    VALUES (${position}, ${status}, ${open_dependencies}, ${claim}, ${lease}, ${state}, ${task_no}, ${step_id})`;
}

function removeStep(query: Query, task_no: number, id: string): void {
  const step_id = asColumn(id);
  removeDependencies(query, task_no, step_id);
  for (const table of ["task_step_definitions", "task_steps"]) {
    query`DELETE FROM ${raw(table)} WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  }
}

/** By what it depends on, which is how they are found: there may be thousands of the task. */
function removeDependencies(query: Query, task_no: number, step_id: string): void {
  const [row] = query<{ depends_on: string }>`SELECT depends_on FROM task_step_definitions
    WHERE task_no = ${task_no} AND step_id = ${step_id}`;
  if (row === undefined) return;
  for (const id of JSON.parse(row.depends_on) as string[]) {
    query`DELETE FROM task_dependencies
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
