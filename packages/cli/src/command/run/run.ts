// `soong run` and `soong resume`: one prompt through the loop, to its end (CLI-2, CLI-4). Text of the model
// goes to stdout, what the tools do to stderr; with --json stdout has the facts and nothing else.

import { resolve } from "node:path";
import { describeUsage, type LoopEvent, type LoopRun, type RunEnd } from "@soong/agent";
import type { Fact, Mode } from "@soong/core";
import { openLoop } from "../../conversation/index.ts";
import { EXIT, UsageError, visible, visibleLine, type Output } from "../../output/index.ts";
import { loadMainAgent, openModels, openRuntime, type StoredSession } from "../../runtime/index.ts";
import { noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { onStop, printFacts } from "../follow-session.ts";
import { readStdin } from "../tools/tool-input.ts";
import { createTerminalQuestions, type Questions } from "../terminal-questions.ts";
import {
  AGENT_OPTION,
  argument,
  FACTS_OPTION,
  MODE_OPTION,
  MODEL_OPTION,
  RULE_OPTIONS,
  type CommandDefinition,
  type RuleFlags,
} from "../define-command.ts";

export const RUN_OPTIONS = [MODEL_OPTION, FACTS_OPTION, AGENT_OPTION, MODE_OPTION, ...RULE_OPTIONS];

export const RUN_EXIT_CODES =
  "0 completed, 1 failed, 2 usage error, 3 denied, 4 too many turns, 5 prompt too long, 6 answer too long, 7 stopped by a hook, 130 aborted";

export const command: CommandDefinition = {
  name: "run",
  summary: "let a model work on a prompt, to its end",
  arguments: [argument("[prompt]", "what to do; default, or -: read from stdin")],
  options: RUN_OPTIONS,
  examples: [
    `soong run "What does this project do?"`,
    `soong run --model script:tour.yaml "Show me around" --allow 'code.*'`,
    `git diff | soong run - --agent reviewer --json`,
    `soong run --mode orchestrator "Plan the work and let workers do it"`,
  ],
  exitCodes: RUN_EXIT_CODES,
  run: (context, prompt?: string, options: RunOptions = {}) => runPrompt(context, prompt, options),
};

export interface RunOptions extends RuleFlags {
  readonly model?: string;
  readonly agent?: string;
  readonly mode?: Mode;
  readonly json?: boolean;
}

/** `resume`: the session to go on with; without a prompt its interrupted run continues. */
export async function runPrompt(
  context: CommandContext,
  prompt: string | undefined,
  options: RunOptions,
  resume?: string,
): Promise<number> {
  const asked = await readPrompt(context, prompt);
  if (asked === undefined && resume === undefined) {
    throw new UsageError("There is no prompt: give one as an argument, or on stdin.");
  }
  const { output } = context;
  const { allow = [], deny = [], cwd = "" } = options;
  const config = await loadUserConfig(context);
  const definition =
    options.agent === undefined ? undefined : await loadMainAgent(config.home, options.agent);
  const { model = definition?.model, mode = definition?.mode } = options;
  const models = await openModels(config.values, context.env, model);
  const person = createUserQuestions(context);
  const runtime = await openRuntime({
    env: context.env,
    cwd: resolve(context.cwd, cwd),
    config,
    flags: { allow, deny, mode },
    ...person,
    agents: true,
    hooks: models.flatMap((one) => one.hooks ?? []),
    ...noteWaiting(context, options.json === true),
    note: (text) => output.note(output.noteColours.dim(visible(text))),
  });
  try {
    const held = await runtime.openSession(
      resume === undefined ? { title: makeTitle(asked ?? "") } : { resume },
    );
    const loop = await openLoop({ held, runtime, config, models, mode, definition });
    if (asked === undefined && loop.interrupted === undefined) {
      throw new UsageError(
        `Nothing was interrupted in ${visibleLine(held.session.session_id)}: give a prompt, as an argument or on stdin.`,
      );
    }
    const { conversation } = loop;
    const run = asked === undefined ? conversation.resume() : conversation.send(asked);
    const exitCode = await followRun(context, held, run, options.json === true);
    if (!runtime.projectMissed()) return exitCode;
    const project = visibleLine(runtime.roots.project);
    output.note(
      output.noteColours.red(
        `The project directory ${project} was removed or moved during the run.`,
      ),
    );
    return exitCode === EXIT.ok ? EXIT.failed : exitCode;
  } finally {
    await runtime.close();
  }
}

/** Undefined: there is none. */
async function readPrompt(
  context: CommandContext,
  given: string | undefined,
): Promise<string | undefined> {
  const isPiped = !context.stdin.isTTY;
  const text =
    given === undefined || given === "-" ? (isPiped ? await readStdin(context) : "") : given;
  return text.trim() === "" ? undefined : text;
}

/** Whoever sits there is asked about calls, and what tools want to know. */
function createUserQuestions(context: CommandContext): Partial<Pick<Questions, "ask" | "elicit">> {
  if (!context.isInteractive) return {};
  const { ask, elicit } = createTerminalQuestions(context.stdin, context.output);
  return { ask, elicit };
}

/** Answers with the exit code; however it ended, that is on record by then. */
async function followRun(
  context: CommandContext,
  held: StoredSession,
  run: LoopRun,
  json: boolean,
): Promise<number> {
  let endedBySignal: number | undefined;
  const stopListening = onStop(context, held, (reason, exitCode) => {
    endedBySignal ??= exitCode;
    void run.abort(reason);
  });
  const { output } = context;
  const printing = json ? printFacts(held, output) : showEvents(run, output);
  try {
    const end = await run.end;
    // Ends the stream of facts.
    await held.close();
    await printing;
    const { session_id } = held.session;
    if (!json) reportEnd(output, end, await run.run_id, session_id);
    return endedBySignal ?? toExitCode(end);
  } finally {
    stopListening();
  }
}

async function showEvents(run: LoopRun, output: Output): Promise<void> {
  let isLineOpen = false;
  for await (const event of run.events()) {
    if (event.type === "text_delta") {
      output.text(visible(event.text));
      isLineOpen = !event.text.endsWith("\n");
      continue;
    }
    const line = renderEvent(event, output);
    if (line === undefined) continue;
    if (isLineOpen) output.line();
    isLineOpen = false;
    output.note(line);
  }
  if (isLineOpen) output.line();
}

function renderEvent(event: LoopEvent, output: Output): string | undefined {
  const { dim, red } = output.noteColours;
  switch (event.type) {
    case "queued":
      return dim(`waits for ${event.ahead} other runs of this session`);
    case "call":
      return dim(`→ ${visibleLine(event.name)} ${visibleLine(event.arguments).slice(0, 200)}`);
    case "result": {
      const { tool_name, status, summary, is_error } = event.result;
      const colour = is_error ? red : dim;
      return colour(`← ${visibleLine(tool_name)} ${status}: ${visibleLine(summary).slice(0, 300)}`);
    }
    case "abandoned":
      return dim(
        `the answer broke off (${visibleLine(event.reason)}); asking ${event.model} again`,
      );
    case "compacted":
      return dim(
        `the conversation was summed up: ${event.tokens_before} → ${event.tokens_after} tokens`,
      );
    case "fact":
      return renderChildProgress(event.fact, dim);
    case "started":
    case "text_delta":
    case "end":
      return undefined;
  }
}

/** What an agent that was started says and does, with which it is (AGENT-5). */
function renderChildProgress(
  { type, data }: Fact,
  dim: (text: string) => string,
): string | undefined {
  if (type !== "tool.progress") return undefined;
  const { message = "", data: about } = data;
  if (typeof about !== "object" || about === null || !("origin" in about)) return undefined;
  return dim(`  ${visibleLine(message).slice(0, 200)}`);
}

function reportEnd(output: Output, end: RunEnd, run_id: string, session_id: string): void {
  if (end.error !== undefined) {
    output.note(output.noteColours.red(`${end.reason}: ${visible(end.error.message)}`));
  }
  const used = describeUsage(end.usage);
  if (used !== "") output.note(output.noteColours.dim(used));
  output.note(
    output.noteColours.dim(
      `\`soong events ${run_id}\` shows what happened, \`soong resume ${session_id}\` continues.`,
    ),
  );
}

/** 0 completed, 1 failed, 3 denied, 4 max_turns, 5 prompt_too_long, 6 max_output_tokens, 7 stopped by a hook, 130 aborted. */
function toExitCode({ reason, error }: RunEnd): number {
  switch (reason) {
    case "completed":
      return EXIT.ok;
    case "max_turns":
      return 4;
    case "prompt_too_long":
      return 5;
    case "max_output_tokens":
      return 6;
    case "aborted_streaming":
    case "aborted_tools":
      return error?.code === "stopped_by_hook" ? EXIT.stoppedByHook : EXIT.interrupted;
    case "failed":
      return error?.code === "prompt_blocked" ? EXIT.denied : EXIT.failed;
  }
}

function makeTitle(prompt: string): string {
  return visibleLine(prompt.trim()).slice(0, 80);
}
