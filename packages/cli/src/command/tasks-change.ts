// `soong tasks cancel` and `soong tasks retry`: a person ends a task, or gives its steps another chance. On record in the
// session of the task, unless somebody works in that session right now; then the task alone says so.

import { TaskRefused, type TaskCaller, type TaskRecord, type Tasks } from "@soong/tasks";
import type { FactData } from "@soong/core";
import type { StoreError } from "@soong/store";
import { CommandError, EXIT, UsageError, visibleLine } from "../output/index.ts";
import { openRuntime, type Runtime } from "../runtime/index.ts";
import { configOf, type CommandContext } from "./context.ts";
import { keptTask, stepRecord, stepsOf } from "./kept-task.ts";

export interface TasksCancelOptions {
  readonly reason?: string;
  readonly json?: boolean;
}

export async function tasksCancelCommand(
  context: CommandContext,
  given: string,
  { reason = "cancelled at the command line", json = false }: TasksCancelOptions,
): Promise<number> {
  const { output } = context;
  return changing(context, given, async (tasks, caller, { task_id }) => {
    const task = await tasks.cancel(caller, { task_id, reason });
    if (json) output.record("soong.tasks/1", { task });
    else output.line(`${visibleLine(task_id)} is cancelled.`);
    return EXIT.ok;
  });
}

/** A task takes so many operations in one update. */
const MOST_AT_ONCE = 500;

/** Without steps: all that failed or are blocked. */
export async function tasksRetryCommand(
  context: CommandContext,
  given: string,
  step_ids: readonly string[],
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  return changing(context, given, async (tasks, caller, { task_id, status: now }) => {
    const isBlocked = now === "blocked";
    const steps = await stepsOf(tasks.reader, task_id);
    const wanted = steps.filter(({ step_id, status }) =>
      step_ids.length === 0
        ? status === "failed" || status === "blocked"
        : step_ids.includes(step_id),
    );
    const unknown = step_ids.find((id) => !steps.some(({ step_id }) => step_id === id));
    if (unknown !== undefined) {
      throw new UsageError(`${visibleLine(unknown)} is no step of ${visibleLine(task_id)}.`);
    }
    if (wanted.length === 0 && !isBlocked) {
      throw new CommandError("No step of it has failed or is blocked.");
    }
    const update = wanted.flatMap(({ step_id, status, attempts, max_attempts }) => [
      // One attempt more, where they are used up.
      ...(attempts >= max_attempts
        ? [{ op: "update_step", step_id, max_attempts: attempts + 1 } as const]
        : []),
      { op: status === "blocked" ? "unblock_step" : "retry_step", step_id } as const,
    ]);
    const first = isBlocked ? [{ op: "unblock_task" } as const] : [];
    const operations = [...first, ...update];
    for (let at = 0; at < operations.length; at += MOST_AT_ONCE) {
      const some = operations.slice(at, at + MOST_AT_ONCE);
      await tasks.update(caller, { task_id, operations: some });
    }
    for (const { step_id } of wanted) {
      const step = await tasks.reader.step(task_id, step_id);
      if (step === undefined) continue;
      if (json) output.record("soong.tasks/1", { step: stepRecord(step) });
      else output.line(`${visibleLine(step_id)} is ${step.status} again.`);
    }
    if (!json) output.note(`\`soong tasks drive ${visibleLine(task_id)}\` goes on with it.`);
    return EXIT.ok;
  });
}

type Change = (tasks: Tasks, caller: TaskCaller, task: TaskRecord) => Promise<number>;

async function changing(context: CommandContext, given: string, change: Change): Promise<number> {
  const { env, cwd, output } = context;
  const config = await configOf(context);
  const runtime = await openRuntime({
    env,
    cwd,
    config,
    servers: "none",
    agents: true,
    note: (text) => output.note(visibleLine(text)),
  });
  try {
    const tasks = runtime.agents?.tasks;
    if (tasks === undefined) throw new CommandError("There are no tasks in this runtime.");
    const { task } = await keptTask(tasks.reader, given);
    return await asPerson(runtime, task, (caller) => change(tasks, caller, task));
  } catch (error) {
    if (error instanceof TaskRefused) throw new CommandError(visibleLine(error.message));
    throw error;
  } finally {
    await runtime.close();
  }
}

async function asPerson(
  runtime: Runtime,
  { session_id }: TaskRecord,
  work: (caller: TaskCaller) => Promise<number>,
): Promise<number> {
  const held = await runtime.openSession({ resume: session_id }).catch((error: unknown) => {
    if ((error as Partial<StoreError>).code === "session_in_use") return undefined;
    throw error;
  });
  if (held === undefined) {
    const nobody = { run_id: "command-line", agent_id: "command-line" };
    return work({ actor: { kind: "orchestrator", session_id, ...nobody } });
  }
  const run = await held.session.startRun({ mode: "orchestrator" });
  const { run_id, agent_id } = run.identity;
  try {
    const done = await work({
      actor: { kind: "orchestrator", session_id, run_id, agent_id },
      record: (type, data: FactData) => void run.recorder.record(type, data),
    });
    run.end("completed");
    return done;
  } catch (error) {
    run.end("failed");
    throw error;
  }
}
