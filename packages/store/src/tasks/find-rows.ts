// Finding what a selection asks for, each part by an index of its own.

import type { FoundRows, StatusPage, StoredTask, TaskPage, TaskSelection } from "@soong/tasks";
import type { Query } from "../session/index.ts";
import { asColumn } from "../sqlite/index.ts";
import { storedStep, storedTask, type StepRow, type TaskRow } from "./rows.ts";

const TASK = "SELECT tasks.*, session_id FROM tasks JOIN sessions USING (session_no)";

const STEP = `SELECT steps.*, task_id, depends_on, definitions.content
  FROM task_steps AS steps
  JOIN task_step_definitions AS definitions USING (task_no, step_id)
  JOIN tasks USING (task_no)`;

export function findRows(query: Query, selection: TaskSelection): FoundRows {
  const { task_id, tasks_of_session, claims_of } = selection;
  const [task] = query(`${TASK} WHERE task_id = ?`, asColumn(task_id)) as TaskRow[];
  const found = new Map<string, StepRow>();
  if (task !== undefined) for (const row of stepsOf(query, task.task_no, selection)) add(row);
  if (claims_of !== undefined) {
    for (const row of query(`${STEP} WHERE run_id = ?`, asColumn(claims_of)) as StepRow[]) add(row);
  }
  const steps = [...found.values()].toSorted((a, b) => a.position - b.position);
  return {
    ...(task === undefined ? {} : { task: storedTask(task) }),
    steps: steps.map(storedStep),
    ...(selection.counts === true ? { counts: countsOf(query, task?.task_no) } : {}),
    ...(tasks_of_session === undefined
      ? {}
      : { session_tasks: countOfSession(query, tasks_of_session) }),
  };

  function add(row: StepRow): void {
    found.set(`${row.task_no} ${row.step_id}`, row);
  }
}

export function listTasks(query: Query, page: TaskPage): StoredTask[] {
  const { session_id, statuses, limit, after } = page;
  const rows = query(
    `${TASK} WHERE (? IS NULL OR session_id = ?)
       AND (? IS NULL OR status IN (SELECT value FROM json_each(?)))
       AND (? IS NULL OR task_no < (SELECT task_no FROM tasks WHERE task_id = ?))
     ORDER BY task_no DESC LIMIT ?`,
    ...twice(session_id),
    ...twice(statuses === undefined ? undefined : JSON.stringify(statuses)),
    ...twice(after === undefined ? undefined : asColumn(after)),
    asLimit(limit),
  );
  return (rows as TaskRow[]).map(storedTask);
}

function stepsOf(query: Query, task_no: number, selection: TaskSelection): StepRow[] {
  const { steps = [], with_dependents, with_status = [], leases_until } = selection;
  if (steps === "all") {
    return query(`${STEP} WHERE steps.task_no = ?`, task_no) as StepRow[];
  }
  const rows = with_status.flatMap((page) => pageOf(query, task_no, page));
  for (const id of steps) {
    const step_id = asColumn(id);
    rows.push(...ask(`${STEP} WHERE steps.task_no = ? AND steps.step_id = ?`, step_id));
    if (with_dependents !== true) continue;
    rows.push(
      ...ask(
        `${STEP} WHERE steps.task_no = ? AND steps.step_id IN
           (SELECT step_id FROM task_dependencies WHERE task_no = tasks.task_no AND depends_on = ?)`,
        step_id,
      ),
    );
  }
  if (leases_until !== undefined) {
    const lapsed = `${STEP} WHERE steps.task_no = ? AND lease_expires_at <= ?`;
    rows.push(...ask(lapsed, leases_until));
  }
  return rows;

  function ask(sql: string, value: string | number): StepRow[] {
    return query(sql, task_no, value) as StepRow[];
  }
}

function pageOf(
  query: Query,
  task_no: number,
  { statuses, after_position = -1, limit }: StatusPage,
): StepRow[] {
  const most = asLimit(limit);
  if (statuses === undefined) {
    const inOrder = `${STEP} WHERE steps.task_no = ? AND position > ? ORDER BY position LIMIT ?`;
    return query(inOrder, task_no, after_position, most) as StepRow[];
  }
  // One status after the other: each is a walk along the index.
  const ofStatus = `${STEP} WHERE steps.task_no = ? AND steps.status = ? AND position > ?
    ORDER BY position LIMIT ?`;
  return [...new Set(statuses)]
    .flatMap((status) => query(ofStatus, task_no, status, after_position, most) as StepRow[])
    .toSorted((a, b) => a.position - b.position)
    .slice(0, most);
}

function countsOf(query: Query, task_no: number | undefined): Record<string, number> {
  if (task_no === undefined) return {};
  const rows = query(
    "SELECT status, count(*) AS count FROM task_steps WHERE task_no = ? GROUP BY status",
    task_no,
  ) as { status: string; count: number }[];
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

function countOfSession(query: Query, session_id: string): number {
  const [row] = query(
    "SELECT count(*) AS count FROM tasks JOIN sessions USING (session_no) WHERE session_id = ?",
    session_id,
  ) as { count: number }[];
  return row?.count ?? 0;
}

function twice(value: string | undefined): [string | null, string | null] {
  return [value ?? null, value ?? null];
}

/** SQLite takes a negative limit for none at all. */
function asLimit(limit: number): number {
  return Math.max(0, Math.trunc(Math.min(limit, 2 ** 31)));
}
