// Reports the steps that workers of an earlier drive, or of another process, still have: a drive waits for them, and their own one
// may have been killed.

import type { StepRecord, TaskCaller } from "@soong/tasks";
import type { DriveOptions } from "./drive-options.ts";

export interface OthersParts {
  readonly options: Pick<DriveOptions, "tasks" | "task_id" | "onEvent" | "describeWaits">;
  readonly caller: TaskCaller;
  /** Steps of this drive. */
  readonly atWork: { readonly size: number; has(step_id: string): boolean };
  /** Such a step is at work no more. */
  readonly onEnded: (step_id: string) => Promise<void>;
}

/** `busy`: how many steps of the task are at work. Each thing is reported once. */
export function createOthersReporter(parts: OthersParts): (busy: number) => Promise<void> {
  const { options, caller, atWork, onEnded } = parts;
  const { tasks, task_id, onEvent, describeWaits } = options;
  const others = new Set<string>();
  const reported = new Set<string>();

  /** A description only informs the user, so the drive continues without one. */
  const describe = async (steps: readonly StepRecord[]) => describeWaits?.(steps).catch(() => {});

  return async (busy) => {
    if (onEvent === undefined || (busy <= atWork.size && others.size === 0)) return;
    const all = await tasks.querySteps(caller, { task_id, statuses: ["claimed", "running"] });
    const now = all.filter(({ step_id }) => !atWork.has(step_id));
    const ids = new Set(now.map(({ step_id }) => step_id));
    for (const step_id of others) {
      if (ids.has(step_id)) continue;
      others.delete(step_id);
      if (!atWork.has(step_id)) await onEnded(step_id);
    }
    const waits = now.length === 0 ? undefined : await describe(now);
    for (const { step_id, claim, last_worker } of now) {
      others.add(step_id);
      const worker = claim?.worker ?? last_worker ?? "a worker";
      for (const message of [`is at work on ${worker} already`, ...(waits?.get(step_id) ?? [])]) {
        const key = JSON.stringify([step_id, claim?.run_id, message]);
        if (reported.has(key)) continue;
        reported.add(key);
        onEvent({ kind: "waiting", step_id, worker, message });
      }
    }
  };
}
