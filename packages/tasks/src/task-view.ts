// Tasks as they are read: without an actor, for the user at the command line and for code, which may see all of their own
// store (a claim whose lease has run out stays unchanged until someone acts on the task); as a board of a few lines; and
// as a model reads them, never with the token of a claim.

import type { JsonObject } from "@soong/core";
import { asJson, omitUndefined, oneLine } from "@soong/schema";
import { claimOf, toStepCounts, toStepRecord, toTaskRecord } from "./draft.ts";
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
  const kinds: StepStatus[][] = [["claimed", "running"], ["ready"], ["failed"], ["blocked"]];
  const { task, counts, steps } = await storage.read({
    task_id,
    counts: true,
    with_status: kinds.map((statuses) => ({ statuses, limit: ON_BOARD })),
  });
  return task && renderBoard(toTaskRecord(task), toStepCounts(counts), steps.map(toStepRecord));
}

export const BOARD_CHARS = 2000;

/** `steps`: some of each status that is not at rest; `counts` says how many there are. */
export function renderBoard(
  task: TaskRecord,
  counts: StepCounts,
  steps: readonly StepRecord[],
): string {
  const last = describeNextMove(task, counts);
  const lines = renderHead(task, counts);
  let room = BOARD_CHARS - [...lines, last].join("\n").length - 1;
  for (const section of buildSections(counts, steps)) {
    const shown = fitSection(section, Math.floor(room * section.share));
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
    `Task ${cut(task_id, 80)} "${cut(title, 100)}" is ${status}, plan version ${version}.`,
    `Goal: ${cut(goal, 240)}`,
    ...(reason === undefined ? [] : [`Reason: ${cut(reason, 200)}`]),
    `Steps: ${total}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}.`,
  ];
}

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  /** How many there are in all. */
  readonly count: number;
  /** Of the room that is left when its turn comes. */
  readonly share: number;
}

function buildSections(counts: StepCounts, steps: readonly StepRecord[]): Section[] {
  const of = (...statuses: string[]): StepRecord[] =>
    steps.filter(({ status }) => statuses.includes(status));
  return [
    {
      title: "Failed:",
      lines: of("failed").map(
        (step) =>
          `- ${nameStep(step)}: attempt ${step.attempts} of ${step.max_attempts}: ${cut(step.failure?.message ?? "", 120)}`,
      ),
      count: counts.failed,
      share: 0.4,
    },
    {
      title: "Blocked:",
      lines: of("blocked").map((step) => `- ${nameStep(step)}: ${cut(step.reason ?? "", 120)}`),
      count: counts.blocked,
      share: 0.35,
    },
    {
      title: "At work:",
      lines: of("claimed", "running").map(renderClaimedStep),
      count: counts.claimed + counts.running,
      share: 0.65,
    },
    {
      title: "Ready:",
      lines: of("ready").map((step) => `- ${nameStep(step)}`),
      count: counts.ready,
      share: 1,
    },
  ];
}

function renderClaimedStep(step: StepRecord): string {
  const { claim, status, attempts, max_attempts, note } = step;
  const who = claim === undefined ? "" : ` by ${cut(claim.worker ?? claim.run_id, 60)}`;
  const said = note === undefined ? "" : `: ${cut(note, 80)}`;
  return `- ${nameStep(step)}: ${status}${who}, attempt ${attempts} of ${max_attempts}${said}`;
}

/** As many lines as there is room for, and how many more there are. */
function fitSection({ title, lines, count }: Section, room: number): string[] {
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

function nameStep({ step_id, title }: StepRecord): string {
  return `${step_id} "${cut(title, 60)}"`;
}

function cut(text: string, chars: number): string {
  return oneLine(text, chars);
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
  return asJson({ ...rest, ...claimOf(step) });
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
