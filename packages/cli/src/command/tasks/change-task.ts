// A change of a task by the user. On record in the session of the task, unless another process works in that session;
// then the task alone says so.

import { TaskRefused, type TaskCaller, type TaskRecord, type Tasks } from "@soong/tasks";
import type { FactData } from "@soong/core";
import type { StoreError } from "@soong/store";
import { CommandError, visibleLine } from "../../output/index.ts";
import { openRuntime, type Runtime } from "../../runtime/index.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { findTask } from "./stored-task.ts";

type TaskChange = (tasks: Tasks, caller: TaskCaller, task: TaskRecord) => Promise<number>;

export async function changeTask(
  context: CommandContext,
  given: string,
  change: TaskChange,
): Promise<number> {
  const { env, cwd, output } = context;
  const config = await loadUserConfig(context);
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
    const { task } = await findTask(tasks.reader, given);
    return await asUser(runtime, task, (caller) => change(tasks, caller, task));
  } catch (error) {
    if (error instanceof TaskRefused) throw new CommandError(visibleLine(error.message));
    throw error;
  } finally {
    await runtime.close();
  }
}

async function asUser(
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
