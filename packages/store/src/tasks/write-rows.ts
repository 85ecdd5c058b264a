// Writing what a plan wants written. A step's definition may be long and rarely changes: it has a row of its own, so that
// a claim does not copy it.

import type { PlannedChange, StepWrite, StoredTask } from "@soong/tasks";
import { StoreError } from "../contract/index.ts";
import type { Query } from "../session/index.ts";
import { asColumn } from "../sqlite/index.ts";

/** The number of a session that is there; throws when it is not. */
export type SessionNumber = (session_id: string) => number;

export function writeRows(
  query: Query,
  task_id: string,
  planned: PlannedChange<unknown>,
  sessionNumber: SessionNumber,
): void {
  const { task, steps = [], removed_steps = [] } = planned;
  if (task !== undefined) writeTask(query, task, sessionNumber);
  const numbers = new Map<string, number>();
  for (const step_id of removed_steps) removeStep(query, numberOf(task_id), step_id);
  for (const step of steps) writeStep(query, numberOf(step.task_id), step);

  function numberOf(id: string): number {
    let task_no = numbers.get(id);
    if (task_no === undefined) {
      const sql = "SELECT task_no FROM tasks WHERE task_id = ?";
      const [row] = query(sql, asColumn(id)) as { task_no: number }[];
      if (row === undefined) throw refused(`There is no task ${id} to write a step of.`);
      task_no = row.task_no;
      numbers.set(id, task_no);
    }
    return task_no;
  }
}

function writeTask(query: Query, task: StoredTask, sessionNumber: SessionNumber): void {
  const task_id = asColumn(task.task_id);
  const content = JSON.stringify(task.content);
  const known = query(
    "UPDATE tasks SET status = ?, updated_at = ?, content = ? WHERE task_id = ? RETURNING task_no",
    task.status,
    task.updated_at,
    content,
    task_id,
  );
  if (known.length > 0) return;
  query(
    `INSERT INTO tasks (task_id, session_no, status, created_at, updated_at, content)
     VALUES (?, ?, ?, ?, ?, ?)`,
    task_id,
    sessionNumber(task.session_id),
    task.status,
    task.created_at,
    task.updated_at,
    content,
  );
}

function writeStep(query: Query, task_no: number, step: StepWrite): void {
  const step_id = asColumn(step.step_id);
  const { position, status, open_dependencies, run_id, lease_expires_at, definition } = step;
  if (definition !== undefined) {
    removeDependencies(query, task_no, step_id);
    query(
      `INSERT OR REPLACE INTO task_step_definitions (task_no, step_id, depends_on, content)
       VALUES (?, ?, ?, ?)`,
      task_no,
      step_id,
      JSON.stringify(definition.depends_on),
      JSON.stringify(definition.content),
    );
    for (const id of definition.depends_on) {
      query(
        "INSERT OR IGNORE INTO task_dependencies (task_no, depends_on, step_id) VALUES (?, ?, ?)",
        task_no,
        asColumn(id),
        step_id,
      );
    }
  }
  const values = [
    position,
    status,
    open_dependencies,
    run_id === undefined ? null : asColumn(run_id),
    lease_expires_at ?? null,
    JSON.stringify(step.state),
    task_no,
    step_id,
  ] as const;
  const known = query(
    `UPDATE task_steps SET position = ?, status = ?, open_dependencies = ?, run_id = ?,
       lease_expires_at = ?, state = ? WHERE task_no = ? AND step_id = ? RETURNING 1`,
    ...values,
  );
  if (known.length > 0) return;
  if (definition === undefined) {
    throw refused(`Step ${step.step_id} of task ${step.task_id} is new and has no definition.`);
  }
  query(
    `INSERT INTO task_steps (position, status, open_dependencies, run_id, lease_expires_at, state,
       task_no, step_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...values,
  );
}

function removeStep(query: Query, task_no: number, id: string): void {
  const step_id = asColumn(id);
  removeDependencies(query, task_no, step_id);
  for (const table of ["task_step_definitions", "task_steps"]) {
    query(`DELETE FROM ${table} WHERE task_no = ? AND step_id = ?`, task_no, step_id);
  }
}

/** By what it depends on, which is how they are found: there may be thousands of the task. */
function removeDependencies(query: Query, task_no: number, step_id: string): void {
  const [row] = query(
    "SELECT depends_on FROM task_step_definitions WHERE task_no = ? AND step_id = ?",
    task_no,
    step_id,
  ) as { depends_on: string }[];
  if (row === undefined) return;
  for (const id of JSON.parse(row.depends_on) as string[]) {
    query(
      "DELETE FROM task_dependencies WHERE task_no = ? AND depends_on = ? AND step_id = ?",
      task_no,
      asColumn(id),
      step_id,
    );
  }
}

function refused(message: string): StoreError {
  return new StoreError("entry_refused", message);
}
