// `soong tasks cancel` and `retry`: the user changes a task. The change is recorded in the session of the task, unless another
// process holds that session; then only the task shows it.

import { TaskRefused, type TaskCaller, type TaskRecord, type Tasks } from "@soong/tasks";
import type { FactData } from "@soong/core";
import type { StoreError } from "@soong/store";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { withRuntime } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { findTask, listSteps, withoutClaimToken } from "./stored-task.ts";

/** How many operations a task accepts in one update. */
const MOST_AT_ONCE = 500;

export const cancelTask: Handler<"tasks cancel"> = (
  context,
  { task: given },
  { reason = "cancelled at the command line" },
) =>
  changeTask(context, given, async (tasks, caller, { task_id }) => {
    const task = await tasks.cancel(caller, { task_id, reason });
    context.print({ task }, () => `${visibleLine(task_id)} is cancelled.`);
  });

/** Without steps it retries all that failed or are blocked. */
export const retrySteps: Handler<"tasks retry"> = (context, { task: given, step: step_ids }) =>
  changeTask(context, given, async (tasks, caller, { task_id, status: now }) => {
    const { output, json, print } = context;
    if (now === "completed" || now === "cancelled") {
      throw new CommandError(`The task ${visibleLine(task_id)} is ${now}: it cannot be continued.`);
    }
    const isBlocked = now === "blocked";
    const steps = await listSteps(tasks.reader, task_id);
    const wanted = steps.filter(({ step_id, status }) =>
      step_ids.length === 0
        ? status === "failed" || status === "blocked"
        : step_ids.includes(step_id),
    );
    const unknown = step_ids.find((id) => !steps.some(({ step_id }) => step_id === id));
    if (unknown !== undefined) {
      throw new UsageError(`${visibleLine(unknown)} is not a step of ${visibleLine(task_id)}.`);
    }
    if (wanted.length === 0 && !isBlocked) {
      throw new CommandError("No step of it has failed or is blocked.");
    }
    const operations = [
      ...(isBlocked ? [{ op: "unblock_task" } as const] : []),
      ...wanted.flatMap(({ step_id, status, attempts, max_attempts }) => [
        // Allow one more attempt if all are used up.
        ...(attempts >= max_attempts
          ? [{ op: "update_step", step_id, max_attempts: attempts + 1 } as const]
          : []),
        { op: status === "blocked" ? "unblock_step" : "retry_step", step_id } as const,
      ]),
    ];
    for (let at = 0; at < operations.length; at += MOST_AT_ONCE) {
      const some = operations.slice(at, at + MOST_AT_ONCE);
      await tasks.update(caller, { task_id, operations: some });
    }
    for (const { step_id } of wanted) {
      const step = await tasks.reader.step(task_id, step_id);
      if (step === undefined) continue;
      print(
        { step: withoutClaimToken(step) },
        () => `${visibleLine(step_id)} is ${step.status} again.`,
      );
    }
    if (!json) output.note(`\`soong tasks drive ${visibleLine(task_id)}\` continues it.`);
  });

type TaskChange = (tasks: Tasks, caller: TaskCaller, task: TaskRecord) => Promise<void>;

async function changeTask(
  context: CommandContext,
  given: string,
  change: TaskChange,
): Promise<void> {
  await withRuntime(context, {}, { servers: "none", agents: true }, async (runtime) => {
    const tasks = runtime.agents?.tasks;
    if (tasks === undefined) throw new CommandError("There are no tasks in this runtime.");
    const { task } = await findTask(tasks.reader, given);
    await asUser(runtime, task, (caller) => change(tasks, caller, task));
  }).catch((error: unknown) => {
    throw error instanceof TaskRefused ? new CommandError(visibleLine(error.message)) : error;
  });
}

async function asUser(
  runtime: Runtime,
  { session_id }: TaskRecord,
  work: (caller: TaskCaller) => Promise<void>,
): Promise<void> {
  const held = await runtime.openSession({ resume: session_id }).catch((error: unknown) => {
    if ((error as Partial<StoreError>).code === "session_in_use") return undefined;
    throw error;
  });
  if (held === undefined) {
    const commandLine = { run_id: "command-line", agent_id: "command-line" };
    return work({ actor: { kind: "orchestrator", session_id, ...commandLine } });
  }
  const run = await held.session.startRun({ mode: "orchestrator" });
  const { run_id, agent_id } = run.identity;
  try {
    await work({
      actor: { kind: "orchestrator", session_id, run_id, agent_id },
      record: (type, data: FactData) => void run.recorder.record(type, data),
    });
    run.end("completed");
  } catch (error) {
    run.end("failed");
    throw error;
  }
}
