// The board of a task: what an orchestrator has to know of it, in a few lines however large the DAG is. Bounded, and
// the most urgent first: what failed, what is blocked, what runs and where, what could run.

import { oneLine } from "@soong/schema";
import { STEP_STATUSES, type StepCounts, type StepRecord, type TaskRecord } from "./records.ts";

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
