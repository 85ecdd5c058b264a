// The tasks of an orchestrator as they stand, before each of its requests: workers change them while it waits.

import type { RunBoard } from "../loop/index.ts";
import type { Tasks } from "@soong/tasks";

const MOST_TASKS = 5;

/** The newest open task in full, the others in a line each. */
export function taskBoard(tasks: Tasks | undefined): RunBoard {
  return async (run) => {
    const { role, session_id } = run.identity;
    if (tasks === undefined || role !== "main" || run.surface.mode !== "orchestrator") {
      return undefined;
    }
    const [newest, ...others] = await tasks.reader.openTasks(session_id, MOST_TASKS);
    if (newest === undefined) return undefined;
    const whole = await tasks.reader.board(newest.task.task_id);
    const lines = others.map(
      ({ task: { task_id, title, status } }) =>
        `Task ${task_id} "${title.slice(0, 100)}" is ${status}.`,
    );
    return ["Your open tasks as they stand now:", whole ?? "", ...lines].join("\n");
  };
}
