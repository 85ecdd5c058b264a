// Reading tasks without an actor: for the user at the command line and for code, which may see all of their own store.
// Writes nothing: a claim whose lease has run out stays unchanged until someone acts on the task.

import { omitUndefined } from "@soong/schema";
import { renderBoard } from "./board.ts";
import type { StepCounts, StepRecord, StepStatus, TaskRecord, TaskStatus } from "./records.ts";
import type { TaskStorage } from "./storage.ts";
import { toStepCounts, toStepRecord, toTaskRecord } from "./stored-rows.ts";

export interface TaskReader {
  /** Newest first. */
  list(page?: TaskListing): Promise<TaskRecord[]>;
  get(task_id: string): Promise<TaskWithCounts | undefined>;
  /** Tasks of a session that have not ended, newest first. */
  openTasks(session_id: string, limit: number): Promise<TaskWithCounts[]>;
  /** By position. None for a task that is not there. */
  steps(task_id: string, page?: StepListing): Promise<StepRecord[]>;
  step(task_id: string, step_id: string): Promise<StepRecord | undefined>;
  /** The task in a few lines, however large it is; undefined when it is not there. */
  board(task_id: string): Promise<string | undefined>;
}

export interface TaskWithCounts {
  readonly task: TaskRecord;
  readonly counts: StepCounts;
}

export interface TaskListing {
  readonly session_id?: string | undefined;
  readonly statuses?: readonly TaskStatus[] | undefined;
  /** Default: 50. */
  readonly limit?: number | undefined;
  /** The last task of the page before. */
  readonly after?: string | undefined;
}

export interface StepListing {
  readonly statuses?: readonly StepStatus[] | undefined;
  readonly after_position?: number | undefined;
  /** Default: 100. */
  readonly limit?: number | undefined;
}

const DEFAULT_TASKS = 50;
const DEFAULT_STEPS = 100;

export function taskReader(storage: TaskStorage): TaskReader {
  return {
    list,
    get,
    async openTasks(session_id, limit) {
      const open = await list({ session_id, limit, statuses: ["pending", "running", "blocked"] });
      const found = await Promise.all(open.map(({ task_id }) => get(task_id)));
      return found.filter((one) => one !== undefined);
    },
    async steps(task_id, { statuses, after_position, limit = DEFAULT_STEPS } = {}) {
      const page = {
        limit,
        ...omitUndefined({ statuses, after_position }),
      };
      const { steps } = await storage.read({ task_id, with_status: [page] });
      return steps.map(toStepRecord);
    },
    async step(task_id, step_id) {
      const [row] = (await storage.read({ task_id, steps: [step_id] })).steps;
      return row === undefined ? undefined : toStepRecord(row);
    },
    board: (task_id) => readBoard(storage, task_id),
  };

  async function list(page: TaskListing = {}): Promise<TaskRecord[]> {
    const { session_id, statuses, limit = DEFAULT_TASKS, after } = page;
    const rows = await storage.list({
      limit,
      ...omitUndefined({ session_id, statuses, after }),
    });
    return rows.map(toTaskRecord);
  }

  async function get(task_id: string): Promise<TaskWithCounts | undefined> {
    const { task, counts } = await storage.read({ task_id, counts: true });
    return task === undefined
      ? undefined
      : { task: toTaskRecord(task), counts: toStepCounts(counts) };
  }
}

/** As many of each as could fit. */
const ON_BOARD = 20;

async function readBoard(storage: TaskStorage, task_id: string): Promise<string | undefined> {
  const of = (...statuses: StepStatus[]): { statuses: StepStatus[]; limit: number } => ({
    statuses,
    limit: ON_BOARD,
  });
  const { task, counts, steps } = await storage.read({
    task_id,
    counts: true,
    with_status: [of("claimed", "running"), of("ready"), of("failed"), of("blocked")],
  });
  return task === undefined
    ? undefined
    : renderBoard(toTaskRecord(task), toStepCounts(counts), steps.map(toStepRecord));
}
