// `soong demo`: a scripted model mends a small project, offline and for real: the same config, loop, tools and store
// as any run, in a throw-away folder with a home of its own. It asks no one, and judges itself by the facts it left.

import { setTimeout } from "node:timers/promises";
import type { Fact } from "@soong/core";
import { loadScript, openConversation, scriptedModel, type LoopRun } from "@soong/agent";
import { loadConfig, type LoadedConfig } from "../../config/index.ts";
import { CommandError, EXIT, wrap, type Output } from "../../output/index.ts";
import {
  openRuntime,
  renderSystemText,
  type StoredSession,
  type Runtime,
} from "../../runtime/index.ts";
import type { CommandContext } from "../context.ts";
import { checkDemo, type DemoPoint } from "./outcome.ts";
import { showDemoRun } from "./show-run.ts";
import { createDemoStage, type DemoStage } from "./stage.ts";
import { checkDemoTask, playDemoTask, showDemoTimeline, type PlayedTask } from "./task.ts";
import type { CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "demo",
  summary:
    "watch scripted models fix a small project and share a task, offline, in a throw-away folder",
  examples: ["soong demo"],
  exitCodes: "0 everything happened as described, 1 something did not, 130 interrupted",
  run: playDemo,
};

const PROMPT = "Ten pens cost too much. Find out why, fix it, and see that the tests pass.";

async function playDemo(context: CommandContext): Promise<number> {
  const { output } = context;
  const stage = await createDemoStage();
  introduce(output, stage);
  const config = await loadConfig({ home: stage.home });
  const runtime = await openRuntime({
    env: { ...context.env, SOONG_AGENT_HOME: stage.home },
    cwd: stage.project,
    config,
    agents: true,
  });
  try {
    const held = await runtime.openSession({ title: "soong demo" });
    const conversation = await openConversation({
      session: held.session,
      models: [scriptedModel(await loadScript(stage.script), { id: "script:demo" })],
      system: renderSystemText(runtime.roots.project),
    });
    const played = await play(context, runtime, conversation.send(PROMPT), held);
    if (played.isInterrupted) return EXIT.interrupted;
    const points = await checkDemo(stage, await runtime.store(), played);
    reportOutcome(output, stage, points);
    const task = await playTask(context, runtime, config, stage);
    if (task === undefined) return EXIT.interrupted;
    reportNextSteps(context, stage, { run_id: played.run_id, task_id: task.task_id });
    return EXIT.ok;
  } finally {
    await runtime.close();
  }
}

function introduce(output: Output, { folder }: DemoStage): void {
  const text = `A scripted model works on a small project: offline, in a throw-away copy with a home and rules of its own. Everything else is real. It is all in ${folder}.`;
  for (const line of wrap(text, output.width)) output.line(line);
}

interface Played {
  readonly run_id: string;
  readonly session_id: string;
  readonly isInterrupted: boolean;
}

/** Shows the run as it goes, and slower than it goes where someone reads along. */
async function play(
  { interrupts, output }: CommandContext,
  { kernel }: Runtime,
  run: LoopRun,
  held: StoredSession,
): Promise<Played> {
  const interrupted = new AbortController();
  const stopListening = interrupts.on(() => {
    interrupted.abort();
    void run.abort("interrupted by the user");
  });
  const pace = async (ms: number): Promise<boolean> => {
    const { signal } = interrupted;
    if (process.stdout.isTTY) await setTimeout(ms, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  };
  try {
    await showDemoRun({ prompt: PROMPT, events: run.events(), kernel, output, pace });
    const run_id = await run.run_id;
    await run.end;
    // Everything is on disk before it is looked at.
    await held.close();
    const isInterrupted = interrupted.signal.aborted;
    return { run_id, session_id: held.session.session_id, isInterrupted };
  } finally {
    stopListening();
  }
}

async function playTask(
  { interrupts, output }: CommandContext,
  runtime: Runtime,
  config: LoadedConfig,
  stage: DemoStage,
): Promise<PlayedTask | undefined> {
  const interrupted = new AbortController();
  const stopListening = interrupts.on(() => interrupted.abort("interrupted by the user"));
  try {
    const played = await playDemoTask(output, runtime, config, interrupted.signal);
    if (played === undefined) return undefined;
    const facts: Fact[] = [];
    const reader = await (await runtime.store()).readSession(played.session_id);
    for (let page = await reader.facts(); page.length > 0;) {
      facts.push(...page);
      page = await reader.facts({ after: page.at(-1)?.seq ?? 0 });
    }
    showDemoTimeline(output, facts);
    reportOutcome(output, stage, checkDemoTask(facts));
    return played;
  } finally {
    stopListening();
  }
}

/** Throws where something did not happen as it was told. */
function reportOutcome(output: Output, stage: DemoStage, points: readonly DemoPoint[]): void {
  output.line();
  output.line(output.colours.bold("What the record says of it"));
  for (const { says, holds } of points) {
    const mark = holds ? output.colours.green("yes") : output.colours.red("NO ");
    output.line(`  ${mark}  ${says}`);
  }
  if (points.every(({ holds }) => holds)) return;
  throw new CommandError(
    `The demo did not go as it should; what it left is in ${stage.folder}. \`soong doctor\` checks what a run needs.`,
  );
}

function reportNextSteps(
  { env, output }: CommandContext,
  { folder, home, project }: DemoStage,
  { run_id, task_id }: { readonly run_id: string; readonly task_id: string },
): void {
  const soong = `SOONG_AGENT_HOME=${shellWord(home)} ${env["npm_command"] === "exec" ? "npx soong" : "soong"}`;
  const { bold, dim } = output.colours;
  const commands = [
    ["every fact of this run, in order", `${soong} events ${run_id}`],
    [
      "who decides about publishing, and where that is written",
      `${soong} explain code.run_command '{"argv": ["node", "publish.mjs"]}' --cwd ${shellWord(project)}`,
    ],
    [
      "the same run decided again from its record; nothing is carried out",
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

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
