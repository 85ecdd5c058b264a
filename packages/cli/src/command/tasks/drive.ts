// `soong tasks drive`: a task worked on to its end by the workers of the config (TASK-6). Ctrl-C stops the workers and
// gives their steps back; what is finished stays finished.

import { resolve } from "node:path";
import { driveTask, type DriveEnd, type DriveEvent } from "@soong/agent";
import { taskReader } from "@soong/tasks";
import { buildLoopLimits } from "../../config/index.ts";
import { CommandError, EXIT, UsageError, visibleLine, type Output } from "../../output/index.ts";
import {
  openModels,
  openRuntime,
  renderSystemText,
  createToolProvider,
  type Runtime,
} from "../../runtime/index.ts";
import { noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { findTask } from "./stored-task.ts";
import { onStop, printFacts } from "../follow-session.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import {
  argument,
  FACTS_OPTION,
  option,
  repeatableOption,
  RULE_OPTIONS,
  type CommandDefinition,
  type RuleFlags,
} from "../define-command.ts";

export const command: CommandDefinition = {
  name: "drive",
  summary: "let workers do the steps that are ready, until the task has ended",
  arguments: [argument("<task>", "id or unique prefix")],
  options: [
    option("--model <model>", "for workers whose pool and definition name none"),
    repeatableOption("--pool <name>", "only workers of this pool"),
    FACTS_OPTION,
    ...RULE_OPTIONS,
  ],
  examples: [
    "soong tasks drive task_0abc",
    "soong tasks drive task_0abc --pool builders --allow 'code.*'",
  ],
  exitCodes: "0 completed, 1 failed, blocked or stuck, 2 usage error, 130 interrupted",
  run: driveStoredTask,
};

interface TasksDriveOptions extends RuleFlags {
  readonly model?: string;
  readonly pool?: readonly string[];
  readonly json?: boolean;
}

async function driveStoredTask(
  context: CommandContext,
  given: string,
  options: TasksDriveOptions,
): Promise<number> {
  const { env, output, isInteractive } = context;
  const { allow = [], deny = [], cwd = "", json = false, pool } = options;
  const config = await loadUserConfig(context);
  const models = await openModels(config.values, env, options.model);
  const person = isInteractive ? createTerminalQuestions(context.stdin, output) : undefined;
  const runtime = await openRuntime({
    env,
    cwd: resolve(context.cwd, cwd),
    config,
    flags: { allow, deny },
    agents: true,
    ...(person === undefined ? {} : { ask: person.ask, elicit: person.elicit }),
    ...noteWaiting(context, json),
    note: (text) => output.note(output.noteColours.dim(visibleLine(text))),
  });
  try {
    const { agents, tasks } = requireAgents(runtime);
    refuseUnknownPools(pool, agents.workers.pools);
    const store = await runtime.store();
    const { task } = await findTask(taskReader(store.tasks()), given);
    const held = await runtime.openSession({ resume: task.session_id });
    const stop = new AbortController();
    let endedBySignal: number | undefined;
    const stopListening = onStop(context, held, (reason, exitCode) => {
      endedBySignal ??= exitCode;
      output.note("Stopping the workers; what they had not finished is given back.");
      stop.abort(reason);
    });
    const printing = json ? printFacts(held, output) : undefined;
    try {
      await runtime.ready(stop.signal);
      const supply = createToolProvider(runtime, config.values.mcp);
      const end = await driveTask({
        session: held.session,
        task_id: task.task_id,
        agents,
        tasks,
        models,
        system: renderSystemText(runtime.roots.project),
        limits: buildLoopLimits(config.values),
        signal: stop.signal,
        pools: pool,
        toolProvider: supply,
        ...(json
          ? {}
          : { onEvent: (event: DriveEvent) => output.line(renderEvent(event, output)) }),
      });
      // Ends the stream of facts.
      await held.close();
      await printing;
      if (!json) reportEnd(output, end);
      return endedBySignal ?? toExitCode(end);
    } finally {
      stopListening();
    }
  } finally {
    await runtime.close();
  }
}

function requireAgents({ agents }: Runtime): NonNullable<Runtime["agents"]> {
  if (agents === undefined) throw new CommandError("There are no agents in this runtime.");
  return agents;
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

function renderEvent(event: DriveEvent, { colours }: Output): string {
  const step = visibleLine(event.step_id);
  switch (event.kind) {
    case "dispatched": {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      return colours.dim(`→ ${step} to ${event.worker}${again}: ${visibleLine(event.title)}`);
    }
    case "retried":
      return colours.dim(`↻ ${step}: tried ${event.attempts} of ${event.max_attempts} times`);
    case "step_ended": {
      const colour = event.status === "completed" ? colours.green : colours.red;
      const word = event.status === "ready" ? "comes back" : event.status;
      const line = `← ${step} ${word}, ${event.worker}`;
      return `${colour(line)}: ${visibleLine(event.summary).slice(0, 300)}`;
    }
  }
}

function reportEnd(output: Output, { kind, reason }: DriveEnd): void {
  const sentence = visibleLine(reason);
  if (kind === "completed") output.line(`The task is completed. ${sentence}`);
  else if (kind === "aborted")
    output.note(`Stopped: ${sentence}. \`soong tasks drive\` continues.`);
  else if (kind === "blocked") {
    output.note(`The task waits for you: ${sentence} \`soong tasks retry\` lets it go on.`);
  } else output.note(output.noteColours.red(`${kind}: ${sentence}`));
}

function toExitCode({ kind }: DriveEnd): number {
  if (kind === "completed") return EXIT.ok;
  return kind === "aborted" ? EXIT.interrupted : EXIT.failed;
}
