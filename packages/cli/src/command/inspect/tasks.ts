// Tasks and their steps for the page of the inspector, read from the store, in any process that works on them.

import { statSync } from "node:fs";
import { join } from "node:path";
import { taskReader, type StepRecord, type TaskWithCounts } from "@soong/tasks";
import { InspectorError, type StepRow, type TaskRow, type TasksPort } from "@soong/inspector";
import type { Store } from "@soong/store";
import { listSteps } from "../tasks/stored-task.ts";

/** So many are listed, the newest; of those that are open, every step is looked at for news. */
const LISTED = 100;
/** A clock may be too coarse to tell two writes apart; after this, the store is read whether or not it seems changed. */
const LOOK_ANYWAY_MS = 2000;

export function createTasksPort(store: Store, home: string): TasksPort {
  const reader = taskReader(store.tasks());
  let known: { readonly files: string; readonly at: number; readonly version: string } | undefined;

  return {
    async list() {
      const tasks: TaskRow[] = [];
      for (const { task_id } of await reader.list({ limit: LISTED })) {
        const found = await reader.get(task_id);
        if (found !== undefined) tasks.push(toTaskRow(found));
      }
      return { tasks };
    },
    async graph(task_id) {
      const found = await reader.get(task_id);
      if (found === undefined) {
        throw new InspectorError("not_found", `There is no task ${task_id} in this home.`);
      }
      const steps = await listSteps(reader, task_id);
      return { task: toTaskRow(found), steps: steps.map(toStepRow) };
    },
    async version() {
      const files = filesNow(home);
      if (known?.files === files && performance.now() - known.at < LOOK_ANYWAY_MS)
        return known.version;
      const parts: unknown[] = [];
      for (const task of await reader.list({ limit: LISTED })) {
        parts.push([task.task_id, task.status, task.updated_at]);
        // One that has ended is never changed again.
        if (task.ended_at !== undefined) continue;
        const steps = await listSteps(reader, task.task_id);
        for (const { updated_at, status, attempts, claim, note } of steps) {
          parts.push([updated_at, status, attempts, claim?.token, note]);
        }
      }
      known = { files, at: performance.now(), version: JSON.stringify(parts) };
      return known.version;
    },
  };
}

/** Changes with every write to the store, by any process. */
function filesNow(home: string): string {
  const paths = ["soong.db", "soong.db-wal"].map((name) => join(home, "store", name));
  const stats = paths.map((path) => statSync(path, { throwIfNoEntry: false }));
  return stats.map((one) => `${one?.mtimeMs ?? 0}:${one?.size ?? 0}`).join(" ");
}

function toTaskRow({ task, counts }: TaskWithCounts): TaskRow {
  const { result, version: _version, created_by: _by, started_at: _at, ...row } = task;
  return { ...row, counts, summary: result?.summary };
}

/** Only what the page shows; the token of a claim is its holder's alone. */
function toStepRow({ claim, result, failure, ...step }: StepRecord): StepRow {
  const { task_id: _t, expected_output: _e, position: _p, open_dependencies: _o, ...more } = step;
  const { earlier: _a, updated_at: _u, last_run_id: _r, last_worker: _w, ...row } = more;
  return {
    ...row,
    claimed_by: claim?.worker ?? claim?.agent_id,
    lease_until: claim?.lease_expires_at,
    summary: result?.summary,
    failure: failure?.message,
  };
}
