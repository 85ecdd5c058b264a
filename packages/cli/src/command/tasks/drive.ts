// `soong tasks drive`: lets the workers of the config do a task until it ends (TASK-6). Ctrl-C stops the workers and gives their
// steps back; finished steps stay finished.

import { driveTask, scriptedModel, type DriveEnd, type WorkerPool } from "@soong/agent";
import { messageOf, type Redactor } from "@soong/core";
import { describeOpenQuestion } from "@soong/core/internal";
import { StoreError, type Store } from "@soong/store";
import { taskReader, type StepRecord, type TaskReader, type TaskRecord } from "@soong/tasks";
import { buildLoopLimits, type SoongConfig } from "../../config/index.ts";
import { CommandError, EXIT, UsageError, visibleLine, type Output } from "../../output/index.ts";
import { openModels } from "../../runtime/models.ts";
import { buildWorkerPools } from "../../runtime/open-agents.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { renderSystemText } from "../../runtime/user-tools.ts";
import { listRemotePools } from "../../runtime/worker-pools.ts";
import { createToolProvider } from "../../runtime/servers.ts";
import { createHomeRedactor, loadUserConfig, withRuntime, onStop, printFacts } from "../context.ts";
import type { Handler } from "../handler.ts";
import { findStepQuestions, readOpenQuestions } from "../live/open-questions.ts";
import { createUserQuestions } from "../terminal-questions.ts";
import { renderDriveEvent } from "./drive-lines.ts";
import { findTask } from "./stored-task.ts";

export const driveStoredTask: Handler<"tasks drive"> = async (
  context,
  { task: given },
  options,
) => {
  const { env, output, json } = context;
  const { pool: pools } = options;
  const config = await loadUserConfig(context);
  // Questions and reports of workers are stored without the secrets of their homes only. Facts are redacted when they are recorded.
  const redactor = await createHomeRedactor(config.home, env);
  if (!json) output.hide(redactor);
  refuseUnknownPools(pools, buildWorkerPools(config.values));
  const models = await openModels(config.values, env, options.model).catch((error: unknown) => {
    if (options.model !== undefined || !areAllRemote(config.values, pools)) throw error;
    // Remote workers use their own models.
    return [scriptedModel({ turns: [] })] as const;
  });
  const wish = { config, agents: true, ...createUserQuestions(context) };
  return withRuntime(context, options, wish, async (runtime) => {
    if (runtime.agents === undefined) {
      throw new CommandError("There are no agents in this runtime.");
    }
    const { agents, tasks } = runtime.agents;
    const store = await runtime.store();
    await warnOfLocalPools(store, agents.workers.pools, output);
    const { task } = await findTask(taskReader(store.tasks()), given);
    const held = await openTaskSession(runtime, task);
    const dispatched = new Set<string>();
    const stop = new AbortController();
    let endedBySignal: number | undefined;
    const stopListening = onStop(context, held, (reason, exitCode) => {
      endedBySignal ??= exitCode;
      output.note(
        "Stopping the workers of this drive; steps that they have not finished are given back.",
      );
      stop.abort(reason);
    });
    const printing = json ? printFacts(held, output) : undefined;
    try {
      await runtime.ready(stop.signal);
      const end = await driveTask({
        session: held.session,
        task_id: task.task_id,
        agents,
        tasks,
        models,
        system: renderSystemText(runtime.roots.project),
        limits: buildLoopLimits(config.values),
        signal: stop.signal,
        pools,
        toolProvider: createToolProvider(runtime, config.values.mcp),
        onEvent(event) {
          if (event.kind === "dispatched") dispatched.add(event.step_id);
          if (!json) output.line(renderDriveEvent(event, output));
        },
        ...(json ? {} : { describeWaits: (steps) => describeWaits(store, steps, redactor) }),
      });
      const left = await listOthers(taskReader(store.tasks()), task.task_id, dispatched);
      // Ends the stream of facts.
      await held.close();
      await printing;
      if (!json) {
        reportEnd(output, task.task_id, end);
        reportOthers(output, task.task_id, left);
      }
      const { kind } = end;
      if (endedBySignal !== undefined) return endedBySignal;
      return kind === "completed" ? EXIT.ok : kind === "aborted" ? EXIT.interrupted : EXIT.failed;
    } catch (error) {
      const { lost } = held.kept;
      if (!lost.aborted) throw error;
      // Closing fails too, because the end cannot be recorded. The loss is the error to report.
      await held.close().catch(() => {});
      throw new CommandError(
        `${messageOf(lost.reason)} \`soong tasks drive ${task.task_id}\` continues the task.`,
      );
    } finally {
      stopListening();
    }
  });
};

/** The task belongs to that session, which one process at a time can hold. */
async function openTaskSession(runtime: Runtime, { session_id, task_id }: TaskRecord) {
  try {
    return await runtime.openSession({ resume: session_id });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "session_in_use") throw error;
    const id = visibleLine(task_id);
    throw new CommandError(
      `The task ${id} is driven already, or its session is open. ${error.message} \`soong tasks ${id} --follow\` shows what becomes of it.`,
    );
  }
}

async function describeWaits(
  store: Store,
  steps: readonly StepRecord[],
  redactor: Redactor,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = await findStepQuestions(store, steps, await readOpenQuestions(store, redactor));
  return new Map(
    [...asked].map(([step_id, questions]) => [
      step_id,
      questions.map((one) => `waits for ${describeOpenQuestion(one)}`),
    ]),
  );
}

/** Steps at work that this drive did not dispatch, so that it did not stop them either. */
async function listOthers(
  reader: TaskReader,
  task_id: string,
  dispatched: ReadonlySet<string>,
): Promise<string[]> {
  const steps = await reader.steps(task_id, { statuses: ["claimed", "running"] });
  return steps.flatMap(({ step_id }) => (dispatched.has(step_id) ? [] : [step_id]));
}

function reportOthers(output: Output, task_id: string, steps: readonly string[]): void {
  if (steps.length === 0) return;
  const continues = steps.length === 1 ? "continues on its worker" : "continue on their workers";
  output.note(
    `${visibleLine(steps.join(", "))} ${continues}, because this drive did not dispatch it: \`soong tasks cancel ${visibleLine(task_id)}\` stops it.`,
  );
}

function areAllRemote(
  values: SoongConfig,
  wanted: readonly string[] = Object.keys(values.agents.worker_pools),
): boolean {
  const remote = listRemotePools(values);
  return wanted.length > 0 && wanted.every((name) => remote.includes(name));
}

/** Warns if there are worker processes for a pool whose steps this process does itself. */
async function warnOfLocalPools(
  { cluster }: Store,
  pools: readonly WorkerPool[],
  output: Output,
): Promise<void> {
  const local = pools.filter(({ remote }) => remote !== true).map(({ name }) => name);
  if (cluster === undefined || local.length === 0) return;
  const idle = new Set((await cluster.workers()).map(({ pool }) => pool));
  for (const name of local.filter((one) => idle.has(one))) {
    output.note(
      `warning: the steps of the pool ${name} are done in this process, although there are workers of that pool: \`soong workers\` lists them, and remote = true in [agents.worker_pools.${name}] gives them the steps.`,
    );
  }
}

function refuseUnknownPools(
  wanted: readonly string[] | undefined,
  pools: readonly { readonly name: string }[],
): void {
  const names = pools.map(({ name }) => name);
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(
    `There is no worker pool ${visibleLine(unknown)}; there are ${names.join(", ")}. [agents.worker_pools.NAME] of the config makes one.`,
  );
}

function reportEnd(output: Output, task_id: string, { kind, reason }: DriveEnd): void {
  const sentence = visibleLine(reason);
  if (kind === "completed") output.line(`The task is completed. ${sentence}`);
  else if (kind === "aborted")
    output.note(`Stopped: ${sentence}. \`soong tasks drive ${visibleLine(task_id)}\` continues.`);
  else if (kind === "blocked") {
    output.note(`The task waits for you: ${sentence} \`soong tasks retry\` lets it continue.`);
  } else output.note(`${kind}: ${sentence}`, "red");
}
