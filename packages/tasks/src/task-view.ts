// Tasks as they are read: without an actor, for the user at the command line and for code, which may see all of their own
// store (a claim whose lease has run out stays unchanged until someone acts on the task); as a board of a few lines; and
// as a model reads them, never with the token of a claim.

import type { JsonObject } from "@soong/core";
import { asJson, omitUndefined, oneLine } from "@soong/schema";
import { readClaim, toStepCounts, toStepRecord, toTaskRecord } from "./draft.ts";
import {
  STEP_STATUSES,
  type StepCounts,
  type StepRecord,
  type StepStatus,
  type TaskRecord,
  type TaskStatus,
} from "./records.ts";
import type { TaskStorage } from "./storage.ts";

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
      const page = { limit, ...omitUndefined({ statuses, after_position }) };
      const { steps } = await storage.read({ task_id, with_status: [page] });
      return steps.map(toStepRecord);
    },
    async step(task_id, step_id) {
      const [row] = (await storage.read({ task_id, steps: [step_id] })).steps;
      return row && toStepRecord(row);
    },
    board: (task_id) => readBoard(storage, task_id),
  };

  async function list(page: TaskListing = {}): Promise<TaskRecord[]> {
    const { session_id, statuses, limit = DEFAULT_TASKS, after } = page;
    const rows = await storage.list({ limit, ...omitUndefined({ session_id, statuses, after }) });
    return rows.map(toTaskRecord);
  }

  async function get(task_id: string): Promise<TaskWithCounts | undefined> {
    const { task, counts } = await storage.read({ task_id, counts: true });
    return task && { task: toTaskRecord(task), counts: toStepCounts(counts) };
  }
}

/** As many of each as could fit. */
const ON_BOARD = 20;

async function readBoard(storage: TaskStorage, task_id: string): Promise<string | undefined> {
  const { task, counts, steps } = await storage.read({
    task_id,
    counts: true,
    with_status: SECTIONS.map(({ statuses }) => ({ statuses, limit: ON_BOARD })),
  });
  return task && renderBoard(toTaskRecord(task), toStepCounts(counts), steps.map(toStepRecord));
}

const BOARD_CHARS = 2000;

/** The most urgent first. `share`: of the room that is left when its turn comes. */
const SECTIONS: readonly {
  readonly title: string;
  readonly statuses: readonly StepStatus[];
  readonly share: number;
  readonly describe: (step: StepRecord) => string;
}[] = [
  {
    title: "Failed:",
    statuses: ["failed"],
    share: 0.4,
    describe: ({ attempts, max_attempts, failure }) =>
      `: attempt ${attempts} of ${max_attempts}: ${oneLine(failure?.message ?? "", 120)}`,
  },
  {
    title: "Blocked:",
    statuses: ["blocked"],
    share: 0.35,
    describe: ({ reason = "" }) => `: ${oneLine(reason, 120)}`,
  },
  {
    title: "At work:",
    statuses: ["claimed", "running"],
    share: 0.65,
    describe: ({ claim, status, attempts, max_attempts, note }) => {
      const who = claim === undefined ? "" : ` by ${oneLine(claim.worker ?? claim.run_id, 60)}`;
      const said = note === undefined ? "" : `: ${oneLine(note, 80)}`;
      return `: ${status}${who}, attempt ${attempts} of ${max_attempts}${said}`;
    },
  },
  { title: "Ready:", statuses: ["ready"], share: 1, describe: () => "" },
];

/** `steps`: some of each status that is not at rest; `counts` says how many there are. */
function renderBoard(task: TaskRecord, counts: StepCounts, steps: readonly StepRecord[]): string {
  const last = describeNextMove(task, counts);
  const lines = renderHead(task, counts);
  let room = BOARD_CHARS - [...lines, last].join("\n").length - 1;
  for (const { title, statuses, share, describe } of SECTIONS) {
    const shown = fitLines(
      title,
      steps
        .filter(({ status }) => statuses.includes(status))
        .map((step) => `- ${step.step_id} "${oneLine(step.title, 60)}"${describe(step)}`),
      statuses.reduce((sum, status) => sum + counts[status], 0),
      Math.floor(room * share),
    );
    if (shown.length === 0) continue;
    room -= shown.join("\n").length + 1;
    lines.push(...shown);
  }
  return [...lines, last].filter((line) => line !== "").join("\n");
}

function renderHead(task: TaskRecord, counts: StepCounts): string[] {
  const { task_id, title, status, version, goal, reason } = task;
  const total = STEP_STATUSES.reduce((sum, one) => sum + counts[one], 0);
  const parts = STEP_STATUSES.flatMap((one) => (counts[one] > 0 ? [`${counts[one]} ${one}`] : []));
  return [
    `Task ${oneLine(task_id, 80)} "${oneLine(title, 100)}" is ${status}, plan version ${version}.`,
    `Goal: ${oneLine(goal, 240)}`,
    ...(reason === undefined ? [] : [`Reason: ${oneLine(reason, 200)}`]),
    `Steps: ${total}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}.`,
  ];
}

/** As many lines as there is room for, and how many more there are. `count`: in all. */
function fitLines(title: string, lines: readonly string[], count: number, room: number): string[] {
  if (count === 0) return [];
  const shown = [title];
  let used = title.length;
  for (const line of lines) {
    const more = shown.length < count ? MORE_CHARS : 0;
    if (used + 1 + line.length + more > room) break;
    shown.push(line);
    used += 1 + line.length;
  }
  const left = count - (shown.length - 1);
  return left === 0 ? shown : [...shown, `- ${left} more`];
}

const MORE_CHARS = "\n- 5000 more".length;

function describeNextMove({ status }: TaskRecord, counts: StepCounts): string {
  const { pending, ready, claimed, running, blocked, failed } = counts;
  if (status === "blocked") return "Next: unblock_task when what blocks it is gone.";
  if (status !== "running" && status !== "pending") return "";
  if (ready > 0) return "Next: the ready steps can be given to workers.";
  if (claimed + running > 0) return "Next: wait for the steps at work.";
  if (failed + blocked > 0) {
    return "Next: nothing can continue automatically. Retry, unblock, change or cancel the steps above with task_update, or fail the task.";
  }
  if (pending > 0) return "Next: nothing is ready. Look at the dependencies of the pending steps.";
  return status === "running"
    ? "Next: every step is over. Complete the task with task_complete."
    : "Next: add steps with task_update, or cancel the task.";
}

export function viewTask({ task, counts }: TaskWithCounts): JsonObject {
  return { ...asJson(task), steps: viewCounts(counts) };
}

/** In a list there are many: without what only matters when looking at one. */
export function viewListedTask(task: TaskRecord): JsonObject {
  const { task_id, title, status, version, created_at, updated_at, reason } = task;
  const base = { task_id, title, status, version, created_at, updated_at };
  return reason === undefined ? base : { ...base, reason: reason.slice(0, 200) };
}

export function viewCounts(counts: StepCounts): JsonObject {
  const there = STEP_STATUSES.flatMap((status) =>
    counts[status] > 0 ? [[status, counts[status]] as const] : [],
  );
  const total = there.reduce((sum, [, count]) => sum + count, 0);
  return { total, ...Object.fromEntries(there) };
}

export function viewStep(step: StepRecord): JsonObject {
  const { claim: _claim, ...rest } = step;
  return asJson({ ...rest, ...readClaim(step) });
}

export function viewStepBriefly(step: StepRecord): JsonObject {
  const { step_id, title, status, depends_on, attempts, max_attempts, position } = step;
  const { claim, reason, failure, result } = step;
  return {
    step_id,
    title,
    status,
    position,
    depends_on: [...depends_on],
    attempts,
    max_attempts,
    ...(claim && { claimed_by: claim.worker ?? claim.run_id }),
    ...(reason !== undefined && { reason: reason.slice(0, BRIEF_CHARS) }),
    ...(status === "failed" && failure && { failure: failure.message.slice(0, BRIEF_CHARS) }),
    ...(result && { summary: result.summary.slice(0, BRIEF_CHARS) }),
  };
}

const BRIEF_CHARS = 300;
