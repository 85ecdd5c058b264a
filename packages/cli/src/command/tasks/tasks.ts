// `soong tasks`: lists the stored tasks, shows one with its steps, and follows it while any process works on it.

import { setTimeout } from "node:timers/promises";
import {
  taskReader,
  type StepRecord,
  type TaskReader,
  type TaskRecord,
  type TaskWithCounts,
} from "@soong/tasks";
import { EXIT, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { findStepQuestions, readOpenQuestions } from "../live/open-questions.ts";
import { withInterrupt } from "../signals.ts";
import { readPages, refuseNothingStored, withReadOnlyStore } from "../stored.ts";
import { findTask, withoutClaimToken, listSteps } from "./stored-task.ts";
import { renderStep, renderTaskEntry, renderTask } from "./task-lines.ts";

const PAGE = 50;
const LOOK_AGAIN_MS = 250;

export const showTasks: Handler<"tasks"> = async (context, { task: given }, { follow = false }) => {
  const { output, json, print } = context;
  const noTasks = (): void =>
    output.note("There are no tasks yet; `soong run --mode orchestrator` makes some.");
  const missing = given === undefined ? noTasks : `task ${given}`;
  return withReadOnlyStore<number | void>(context, missing, async (store, redactor) => {
    const reader = taskReader(store.tasks());
    if (given === undefined) {
      if ((await listTasks(context, reader)) === 0) noTasks();
      return EXIT.ok;
    }
    const found = await findTask(reader, given);
    const { task, counts } = found;
    const steps = await listSteps(reader, task.task_id);
    const open = await readOpenQuestions(store, redactor);
    const questions = await findStepQuestions(store, steps, open);
    const isDriven = (await store.heldSessions([task.session_id])).length > 0;
    print({ task, counts }, () => [
      ...renderTask(task, counts, steps, { ...output, questions }),
      ...(isDriven ? [] : describeUndriven(task, output)),
    ]);
    if (json) for (const step of steps) print({ step: withoutClaimToken(step) }, () => []);
    return follow ? followTask(context, reader, found, steps) : EXIT.ok;
  });
};

/** No new steps are given to workers, though the task looks as if it were at work. */
function describeUndriven({ task_id, status }: TaskRecord, { colours }: Output): string[] {
  if (status !== "pending" && status !== "running") return [];
  return [colours.dim(`No process drives it: \`soong tasks drive ${visibleLine(task_id)}\` does.`)];
}

/** Returns the number of tasks. */
async function listTasks({ output, print }: CommandContext, reader: TaskReader): Promise<number> {
  let count = 0;
  const pages = readPages<{ readonly task_id: string }>(PAGE, (last) =>
    reader.list({ limit: PAGE, after: last?.task_id }),
  );
  for await (const page of pages) {
    for (const { task_id } of page) {
      const found = await reader.get(task_id);
      if (found !== undefined)
        print(found, () => renderTaskEntry(found.task, found.counts, output));
    }
    count += page.length;
    await output.drained();
    if (output.isClosed) break;
  }
  return count;
}

/** Follows the task until it has ended or the output is closed. */
function followTask(
  context: CommandContext,
  reader: TaskReader,
  found: TaskWithCounts,
  shown: readonly StepRecord[],
): Promise<number> {
  const { output, print } = context;
  const { task_id } = found.task;
  const seen = new Map(shown.map((step) => [step.step_id, renderNews(step)]));
  return withInterrupt(context, async (signal) => {
    for (let now = found; ;) {
      if (!isOpen(now)) return now.task.status === "completed" ? EXIT.ok : EXIT.failed;
      await setTimeout(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return EXIT.interrupted;
      if (output.isClosed) return EXIT.ok;
      const next = await reader.get(task_id);
      if (next === undefined) refuseNothingStored(`task ${task_id} any more`);
      for (const step of await listSteps(reader, task_id)) printStep(step);
      if (next.task.updated_at !== now.task.updated_at || !isOpen(next)) printTask(next);
      now = next;
    }
  });

  function printStep(step: StepRecord): void {
    const news = renderNews(step);
    if (seen.get(step.step_id) === news) return;
    seen.set(step.step_id, news);
    print(
      { step: withoutClaimToken(step) },
      () => `${formatTime(step.updated_at)} ${renderStep(step)}`,
    );
  }

  function printTask({ task, counts }: TaskWithCounts): void {
    const end = task.result?.summary ?? task.reason;
    const why = end === undefined ? "" : `: ${visibleLine(end)}`;
    print(
      { task, counts },
      () => `${formatTime(task.updated_at)} the task is ${task.status}${why}`,
    );
  }
}

function isOpen({ task: { status } }: TaskWithCounts): boolean {
  return status === "pending" || status === "running" || status === "blocked";
}

/** The state of a step for which a change is printed. The renewal of a lease is not. */
function renderNews({ status, attempts, claim, note }: StepRecord): string {
  return JSON.stringify([status, attempts, claim?.token, note]);
}

function formatTime(timestamp: string): string {
  return timestamp.slice(11, 19);
}
