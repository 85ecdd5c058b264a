// Renders a task as lines for users: its steps by level, each below those it waits for, with its worker and the reason of a failure.

import { describeOpenQuestion } from "@soong/core/internal";
import type { QuestionRecord } from "@soong/store";
import type { StepCounts, StepRecord, StepStatus, TaskRecord } from "@soong/tasks";
import {
  describeAge,
  fit,
  measureWidth,
  pad,
  visibleLine,
  wrap,
  type Colours,
} from "../../output/index.ts";

interface TaskLinesOptions {
  readonly width: number;
  readonly colours: Colours;
}

interface StepLinesOptions extends TaskLinesOptions {
  /** The open questions by step. */
  readonly questions: ReadonlyMap<string, readonly QuestionRecord[]>;
}

const SIGNS: Readonly<Record<StepStatus, string>> = {
  pending: "·",
  ready: "○",
  claimed: "…",
  running: "…",
  blocked: "!",
  completed: "✓",
  failed: "✗",
  cancelled: "-",
};

/** One task in a list. */
export function renderTaskEntry(
  { task_id, title, status, updated_at }: TaskRecord,
  counts: StepCounts,
  { width, colours }: TaskLinesOptions,
  now: number = Date.now(),
): string[] {
  return [
    `${colours.bold(visibleLine(task_id))}  ${colourStatus(status, colours)}  ${renderProgress(counts)}  ${describeAge(updated_at, now)}`,
    colours.dim(`    ${fit(visibleLine(title), width - 4)}`),
  ];
}

export function renderTask(
  task: TaskRecord,
  counts: StepCounts,
  steps: readonly StepRecord[],
  { width, colours, questions }: StepLinesOptions,
): string[] {
  const { bold, dim } = colours;
  const end = task.result?.summary ?? task.reason;
  const ids = Math.min(24, Math.max(4, ...steps.map(({ step_id }) => step_id.length)));
  const levels = sortIntoLevels(steps);
  return [
    `${bold(visibleLine(task.title))}  ${colourStatus(task.status, colours)}  ${renderProgress(counts)}`,
    dim(fit(visibleLine(task.goal), width)),
    ...(end === undefined ? [] : wrap(visibleLine(end), width, "  ")),
    ...levels.flatMap((level, depth) =>
      level.flatMap((step, index) => {
        const place = pad(index === 0 ? String(depth + 1) : "", String(levels.length).length);
        return stepLines(step, place, ids, { width, colours, questions });
      }),
    ),
  ];
}

/** Renders the state of a step in one line, for `--follow`. */
export function renderStep(step: StepRecord): string {
  const { step_id, status } = step;
  return `${SIGNS[status]} ${visibleLine(step_id)} ${describeStep(step)}`;
}

function stepLines(
  step: StepRecord,
  place: string,
  ids: number,
  { width, colours, questions }: StepLinesOptions,
): string[] {
  const { step_id, title, status, depends_on } = step;
  const from = depends_on.length === 0 ? "" : ` ← ${depends_on.map(visibleLine).join(", ")}`;
  const head = `${place} ${SIGNS[status]} ${pad(visibleLine(step_id), ids)} `;
  const first = fit(`${head}${visibleLine(title)}${from}`, width);
  const line = COLOUR_OF[status] === undefined ? first : colours[COLOUR_OF[status]](first);
  const about = describeStep(step);
  const indent = " ".repeat(measureWidth(head));
  const asked = questions.get(step_id) ?? [];
  return [
    line,
    ...wrap(about, width, indent).map((one) => colours.dim(one)),
    ...asked.map((one) => colours.yellow(`${indent}waits for ${describeOpenQuestion(one)}`)),
  ];
}

const COLOUR_OF: Readonly<Partial<Record<StepStatus, "green" | "red" | "yellow" | "cyan">>> = {
  completed: "green",
  failed: "red",
  blocked: "yellow",
  claimed: "cyan",
  running: "cyan",
};

function describeStep(step: StepRecord): string {
  const { status, attempts, max_attempts, claim, last_worker } = step;
  const { failure, reason, result, open_dependencies } = step;
  const parts: string[] = [status];
  if (claim !== undefined) parts.push(`by ${visibleLine(claim.worker ?? claim.run_id)}`);
  else if (isElsewhere(last_worker) && !isOpen(status))
    parts.push(`by ${visibleLine(last_worker)}`);
  if (attempts > 1 || status === "failed") parts.push(`attempt ${attempts} of ${max_attempts}`);
  if (status === "pending") parts.push(`waits for ${open_dependencies}`);
  const why =
    status === "completed"
      ? result?.summary
      : (reason ?? (isOpen(status) ? undefined : failure?.message));
  const before =
    isOpen(status) && failure !== undefined ? ` (before: ${visibleLine(failure.message)})` : "";
  return `${parts.join(", ")}${why === undefined ? "" : `: ${visibleLine(why)}`}${before}`;
}

/** The name of a remote worker has a host in it. After the end of a step, the name of a local worker is of no interest. */
function isElsewhere(worker: string | undefined): worker is string {
  return worker?.includes("@") === true;
}

function isOpen(status: StepStatus): boolean {
  return status === "pending" || status === "ready" || status === "claimed" || status === "running";
}

function colourStatus(status: TaskRecord["status"], { green, red, cyan }: Colours): string {
  if (status === "completed") return green(status);
  return status === "failed" || status === "cancelled" ? red(status) : cyan(status);
}

/** Such as `3/12 steps, 2 running, 1 failed`. */
function renderProgress(counts: StepCounts): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const worth = (["running", "claimed", "failed", "blocked", "cancelled"] as const).filter(
    (status) => counts[status] > 0,
  );
  return [
    `${counts.completed}/${total} steps`,
    ...worth.map((status) => `${counts[status]} ${status}`),
  ].join(", ");
}

/** Each step is one level below the lowest one that it waits for. Steps of a level are in order of position. */
function sortIntoLevels(steps: readonly StepRecord[]): StepRecord[][] {
  const byId = new Map(steps.map((step) => [step.step_id, step]));
  const depths = new Map<string, number>();
  // Dependencies first, without recursion: a chain may be thousands of steps long.
  for (const step of steps) {
    const stack = [step];
    while (stack.length > 0) {
      const top = stack.at(-1) as StepRecord;
      const open = top.depends_on.flatMap((id) => (depths.has(id) ? [] : (byId.get(id) ?? [])));
      if (open.length > 0 && stack.length <= steps.length) {
        stack.push(...open);
        continue;
      }
      stack.pop();
      const above = top.depends_on.map((id) => depths.get(id) ?? -1);
      depths.set(top.step_id, Math.max(-1, ...above) + 1);
    }
  }
  const levels: StepRecord[][] = [];
  for (const step of steps) (levels[depths.get(step.step_id) ?? 0] ??= []).push(step);
  return levels.map((level) => level ?? []);
}
