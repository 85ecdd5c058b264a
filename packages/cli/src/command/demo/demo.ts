// `soong demo`: a scripted model fixes a small project, offline and for real: the same config, loop, tools and store
// as any run, in a throw-away folder with a home of its own. It asks no one, and judges itself by the facts it left.

import { chmod, cp, mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Fact } from "@soong/core";
import { shellWord } from "@soong/core/internal";
import { loadScript, openConversation, scriptedModel } from "@soong/agent";
import { loadConfig } from "../../config/index.ts";
import { CommandError, EXIT, wrap, type Output } from "../../output/index.ts";
import { openRuntime, type Runtime } from "../../runtime/open-runtime.ts";
import { renderSystemText } from "../../runtime/user-tools.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { withInterrupt } from "../signals.ts";
import { readFactPages } from "../stored.ts";
import { checkDemo, type DemoPoint } from "./outcome.ts";
import { showDemoRun } from "./show-run.ts";
import { checkDemoTask, playDemoTask, showDemoTimeline } from "./task.ts";

const PROMPT = "Ten pens cost too much. Find out why, fix it, and see that the tests pass.";

export const playDemo: Handler<"demo"> = async (context) => {
  const { output } = context;
  const stage = await createDemoStage();
  const { home, project: cwd, folder } = stage;
  const introduction = `A scripted model works on a small project: offline, in a throw-away copy with a home and rules of its own. Everything else is real. It is all in ${folder}.`;
  for (const line of wrap(introduction, output.width)) output.line(line);
  const config = await loadConfig({ home });
  const env = { ...context.env, SOONG_AGENT_HOME: home };
  const runtime = await openRuntime({ env, cwd, config, agents: true, mayLackSandbox: true });
  try {
    return await withInterrupt(context, async (signal) => {
      const played = await playRun(output, runtime, stage.script, signal);
      if (signal.aborted) return EXIT.interrupted;
      const store = await runtime.store();
      reportOutcome(output, folder, await checkDemo(cwd, store, played));
      const task = await playDemoTask(output, runtime, config, signal);
      if (task === undefined) return EXIT.interrupted;
      const facts: Fact[] = [];
      const reader = await store.readSession(task.session_id);
      for await (const page of readFactPages(reader)) facts.push(...page);
      showDemoTimeline(output, facts);
      reportOutcome(output, folder, checkDemoTask(facts));
      reportNextSteps(context, stage, { run_id: played.run_id, task_id: task.task_id });
      return EXIT.ok;
    });
  } finally {
    await runtime.close();
  }
};

interface DemoStage {
  readonly folder: string;
  readonly home: string;
  readonly project: string;
  /** What the model says. */
  readonly script: string;
}

/** A copy of the project, and a home with the demo's own rules. It stays, so that what happened can be looked at. */
async function createDemoStage(): Promise<DemoStage> {
  // Beside the program, in any piece of the bundle.
  const shipped = join(import.meta.dirname, "demo");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-demo-")));
  const stage = {
    folder,
    home: join(folder, "home"),
    project: join(folder, "project"),
    script: join(folder, "script.yaml"),
  };
  const config = join(stage.home, "config.toml");
  await mkdir(stage.home, { mode: 0o700 });
  try {
    await cp(join(shipped, "project"), stage.project, { recursive: true });
    await cp(join(shipped, "config.toml"), config);
    await cp(join(shipped, "script.yaml"), stage.script);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `The files of the demo cannot be copied from ${shipped}: ${why}. Install soong again.`,
    );
  }
  // The package may have been unpacked so that others can write it.
  await chmod(config, 0o600);
  return stage;
}

/** Shows the run as it goes, and slower than it goes where someone reads along. */
async function playRun(
  output: Output,
  runtime: Runtime,
  script: string,
  signal: AbortSignal,
): Promise<{ run_id: string; session_id: string }> {
  const held = await runtime.openSession({ title: "soong demo" });
  const conversation = await openConversation({
    session: held.session,
    models: [scriptedModel(await loadScript(script), { id: "script:demo" })],
    system: renderSystemText(runtime.roots.project),
  });
  const run = conversation.send(PROMPT);
  const abort = (): void => void run.abort("interrupted by the user");
  signal.addEventListener("abort", abort, { once: true });
  const pace = async (ms: number): Promise<boolean> => {
    if (process.stdout.isTTY) await setTimeout(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  };
  await showDemoRun(output, runtime.kernel, PROMPT, run.events(), pace);
  const run_id = await run.run_id;
  await run.end;
  // Everything is on disk before it is looked at.
  await held.close();
  return { run_id, session_id: held.session.session_id };
}

/** Throws where something did not happen as described. */
function reportOutcome(output: Output, folder: string, points: readonly DemoPoint[]): void {
  output.line();
  output.line(output.colours.bold("What the record says of it"));
  for (const { says, holds } of points) {
    const mark = holds ? output.colours.green("yes") : output.colours.red("NO ");
    output.line(`  ${mark}  ${says}`);
  }
  if (points.every(({ holds }) => holds)) return;
  throw new CommandError(
    `The demo did not go as it should; what it left is in ${folder}. \`soong doctor\` checks what a run needs.`,
  );
}

function reportNextSteps(
  { env, output }: CommandContext,
  { folder, home, project }: DemoStage,
  { run_id, task_id }: { readonly run_id: string; readonly task_id: string },
): void {
  const soong = `SOONG_AGENT_HOME=${shellWord(home)} ${env["npm_command"] === "exec" ? "npx soong" : "soong"}`;
  const { bold, dim } = output.colours;
  const publish = `explain code.run_command '{"argv": ["node", "publish.mjs"]}' --cwd ${shellWord(project)}`;
  const commands = [
    ["every fact of this run, in order", `${soong} events ${run_id}`],
    ["who decides about publishing, and where that is written", `${soong} ${publish}`],
    [
      "the same run decided again from its record; nothing is executed",
      `${soong} replay ${run_id}`,
    ],
    ["the task with its steps, and who did them", `${soong} tasks ${task_id}`],
    ["all of it in your browser, until Ctrl-C", `${soong} inspect --open`],
    ["when you have seen enough", `rm -r ${shellWord(folder)}`],
  ] as const;
  output.line();
  output.line(bold("See for yourself"));
  for (const [says, command] of commands) output.line(`  ${dim(`# ${says}`)}\n  ${command}`);
}
