// Rows of the task tables, and as their readers see them.

import type { JsonObject } from "@soong/core";
import type { StoredStep, StoredTask } from "@soong/tasks";
import { fromColumn } from "../sqlite/index.ts";

export interface TaskRow {
  task_no: number;
  task_id: string;
  session_id: string;
  status: string;
  created_at: string;
  updated_at: string;
  content: string;
}

export interface StepRow {
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

export function storedTask(row: TaskRow): StoredTask {
  return {
    task_id: fromColumn(row.task_id),
    session_id: row.session_id,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
    content: JSON.parse(row.content) as JsonObject,
  };
}

export function storedStep(row: StepRow): StoredStep {
  const { position, status, open_dependencies, run_id, lease_expires_at } = row;
  return {
    task_id: fromColumn(row.task_id),
    step_id: fromColumn(row.step_id),
    position,
    status,
    open_dependencies,
    ...(run_id === null ? {} : { run_id: fromColumn(run_id) }),
    ...(lease_expires_at === null ? {} : { lease_expires_at }),
    state: JSON.parse(row.state) as JsonObject,
    definition: {
      depends_on: JSON.parse(row.depends_on) as string[],
      content: JSON.parse(row.content) as JsonObject,
    },
  };
}
