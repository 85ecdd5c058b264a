// `soong tasks`: the tasks that are kept, one of them with its steps, and the same as it continues, whoever works on it.

import { setTimeout } from "node:timers/promises";
import { taskReader, type StepRecord, type TaskReader, type TaskWithCounts } from "@soong/tasks";
import { EXIT, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { findTask, withoutClaimToken, listSteps } from "./stored-task.ts";
import { refuseNothingStored, withReadOnlyStore } from "../stored.ts";
import { renderStep, renderTaskEntry, renderTask } from "./task-lines.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "tasks",
  summary: "list the tasks of orchestrators, or show one with its steps",
  arguments: [argument("[task]", "id or unique prefix; default: all, newest first")],
  options: [option("--follow", "continue until the task has ended, in any process"), JSON_OPTION],
  examples: [
    "soong tasks",
    "soong tasks task_0abc --follow",
    "soong tasks drive task_0abc",
    "soong tasks retry task_0abc tests",
  ],
  exitCodes: "0; with --follow 1 when the task did not end as completed, 130 interrupted",
  subcommands: {
    drive: () => import("./drive.ts"),
    cancel: () => import("./cancel.ts"),
    retry: () => import("./retry.ts"),
  },
  run: showTasks,
};

interface TasksOptions {
  readonly json?: boolean;
  readonly follow?: boolean;
}

const SCHEMA = "soong.tasks/1";
const PAGE = 50;
const LOOK_AGAIN_MS = 250;

async function showTasks(
  context: CommandContext,
  given: string | undefined,
  { json = false, follow = false }: TasksOptions,
): Promise<number> {
  const { output } = context;
  return withReadOnlyStore(
    context,
    async (store) => {
      const reader = taskReader(store.tasks());
      if (given === undefined) return listTasks(output, reader, json);
      const found = await findTask(reader, given);
      const steps = await listSteps(reader, found.task.task_id);
      showTask(output, found, steps, json);
      return follow ? followTask(context, reader, found, steps, json) : EXIT.ok;
    },
    () => {
      if (given !== undefined) refuseNothingStored(`task ${given}`);
      noteNoTasks(output);
      return EXIT.ok;
    },
  );
}

function showTask(
  output: Output,
  { task, counts }: TaskWithCounts,
  steps: readonly StepRecord[],
  json: boolean,
): void {
  if (json) {
    output.record(SCHEMA, { task, counts });
    for (const step of steps) output.record(SCHEMA, { step: withoutClaimToken(step) });
    return;
  }
  const { width, colours } = output;
  for (const line of renderTask(task, counts, steps, { width, colours })) output.line(line);
}

async function listTasks(output: Output, reader: TaskReader, json: boolean): Promise<number> {
  let after: string | undefined;
  for (;;) {
    const page = await reader.list({ limit: PAGE, after });
    for (const { task_id } of page) {
      const found = await reader.get(task_id);
      if (found === undefined) continue;
      if (json) output.record(SCHEMA, found);
      else for (const line of renderTaskEntry(found.task, found.counts, output)) output.line(line);
    }
    await output.drained();
    if (page.length === 0 && after === undefined) noteNoTasks(output);
    if (page.length < PAGE || output.isClosed) return EXIT.ok;
    after = page.at(-1)?.task_id;
  }
}

/** Until it has ended, or no one reads any more. */
async function followTask(
  { interrupts, output }: CommandContext,
  reader: TaskReader,
  found: TaskWithCounts,
  shown: readonly StepRecord[],
  json: boolean,
): Promise<number> {
  const { task_id } = found.task;
  const leaving = new AbortController();
  const stopListening = interrupts.on(() => leaving.abort());
  const seen = new Map(shown.map((step) => [step.step_id, renderNews(step)]));
  try {
    for (let now = found; ;) {
      if (!isOpen(now)) return now.task.status === "completed" ? EXIT.ok : EXIT.failed;
      await setTimeout(LOOK_AGAIN_MS, undefined, { signal: leaving.signal }).catch(() => {});
      if (leaving.signal.aborted) return EXIT.interrupted;
      if (output.isClosed) return EXIT.ok;
      const next = await reader.get(task_id);
      if (next === undefined) refuseNothingStored(`task ${task_id} any more`);
      for (const step of await listSteps(reader, task_id)) tell(step);
      if (next.task.updated_at !== now.task.updated_at || !isOpen(next)) tellTask(next);
      now = next;
    }
  } finally {
    stopListening();
  }

  function tell(step: StepRecord): void {
    const news = renderNews(step);
    if (seen.get(step.step_id) === news) return;
    seen.set(step.step_id, news);
    if (json) output.record(SCHEMA, { step: withoutClaimToken(step) });
    else output.line(`${formatTime(step.updated_at)} ${renderStep(step)}`);
  }

  function tellTask({ task, counts }: TaskWithCounts): void {
    if (json) output.record(SCHEMA, { task, counts });
    else {
      const end = task.result?.summary ?? task.reason;
      const why = end === undefined ? "" : `: ${visibleLine(end)}`;
      output.line(`${formatTime(task.updated_at)} the task is ${task.status}${why}`);
    }
  }
}

function isOpen({ task: { status } }: TaskWithCounts): boolean {
  return status === "pending" || status === "running" || status === "blocked";
}

/** What is news about it: a lease that begins anew is none. */
function renderNews({ status, attempts, claim, note }: StepRecord): string {
  return JSON.stringify([status, attempts, claim?.token, note]);
}

function formatTime(timestamp: string): string {
  return timestamp.slice(11, 19);
}

function noteNoTasks(output: Output): void {
  output.note("There are no tasks yet; `soong run --mode orchestrator` makes some.");
}
