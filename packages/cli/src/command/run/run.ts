// `soong run` and `soong resume`: one prompt through the loop, to its end (CLI-2, CLI-4). The answer goes to stdout, what
// the tools do to stderr; with --json stdout has the facts and nothing else.

import { stdout } from "node:process";
import {
  describeUsage,
  type ExpectedOutput,
  type LoopEvent,
  type LoopRun,
  type RunEnd,
} from "@soong/agent";
import type { Fact } from "@soong/core";
import { describeRetry } from "../../conversation/describe-retry.ts";
import { openLoop } from "../../conversation/open-loop.ts";
import {
  EXIT,
  UsageError,
  visible,
  visibleJson,
  visibleLine,
  type Output,
} from "../../output/index.ts";
import { chooseMode, loadMainAgent, openModels } from "../../runtime/models.ts";
import type { StoredSession } from "../../runtime/open-runtime.ts";
import {
  createHomeRedactor,
  hasTerminal,
  loadUserConfig,
  withRuntime,
  onStop,
  printFacts,
} from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { findSession } from "../stored.ts";
import { createUserQuestions } from "../terminal-questions.ts";
import { readPrompt, titleOf } from "./read-prompt.ts";

export const runPrompt: Handler<"run"> = (context, { prompt }, options) =>
  runInSession(context, prompt, options);

/** At a terminal as a conversation. */
export const resumeSession: Handler<"resume"> = async (
  context,
  { session: given, prompt },
  options,
) => {
  const { json } = context;
  const { session_id: session } = await findSession(context, given, { isConversation: true });
  const isPrinted = prompt !== undefined || json || options.outputSchema !== undefined;
  if (isPrinted || !hasTerminal(context)) return runInSession(context, prompt, options, session);
  const { converse } = await import("./converse.ts");
  return converse(context, options, { resume: session });
};

type RunOptions = Parameters<typeof runPrompt>[2];

/** `resume`: the session to continue; without a prompt its interrupted run continues. */
export async function runInSession(
  context: CommandContext,
  given: string | undefined,
  options: RunOptions,
  resume?: string,
): Promise<number> {
  const { outputSchema } = options;
  const expected =
    outputSchema === undefined
      ? undefined
      : await (await import("./output-schema.ts")).loadOutputSchema(context.cwd, outputSchema);
  const prompt = await readPrompt(context, given, { isOptional: resume !== undefined });
  if (prompt === undefined && resume === undefined) {
    throw new UsageError("There is no prompt: give one as an argument, or on stdin.");
  }
  const { output } = context;
  const config = await loadUserConfig(context);
  const definition =
    options.agent === undefined ? undefined : await loadMainAgent(config, options.agent);
  // The text of a model is shown as it comes. Facts are redacted when they are recorded.
  if (!context.json) output.hide(await createHomeRedactor(config.home, context.env));
  const { model = definition?.model } = options;
  const mode = chooseMode(options.mode, definition, (text) => output.note(text));
  const models = await openModels(config.values, context.env, model);
  const hooks = models.flatMap((one) => one.hooks ?? []);
  const wish = { config, agents: true, hooks, ...createUserQuestions(context) };
  return withRuntime(context, { ...options, mode }, wish, async (runtime) => {
    const held = await runtime.openSession(
      resume === undefined ? { title: titleOf(given, prompt) } : { resume, isConversation: true },
    );
    const loop = await openLoop({ held, runtime, config, models, mode, definition, expected });
    if (prompt === undefined && loop.interrupted === undefined) {
      throw new UsageError(
        `Nothing was interrupted in ${visibleLine(held.session.session_id)}: give a prompt, as an argument or on stdin.`,
      );
    }
    const { conversation } = loop;
    const run = prompt === undefined ? conversation.resume() : conversation.send(prompt);
    const exitCode = await followRun(context, held, run, expected);
    if (!runtime.projectMissed()) return exitCode;
    const project = visibleLine(runtime.roots.project);
    output.note(`The project directory ${project} was removed or moved during the run.`, "red");
    return exitCode === EXIT.ok ? EXIT.failed : exitCode;
  });
}

/** Returns the exit code; however the run ended, that is on record by then. */
async function followRun(
  context: CommandContext,
  held: StoredSession,
  run: LoopRun,
  expected: ExpectedOutput | undefined,
): Promise<number> {
  let endedBySignal: number | undefined;
  const stopListening = onStop(context, held, (reason, exitCode) => {
    endedBySignal ??= exitCode;
    void run.abort(reason);
  });
  const { output, json } = context;
  const isStreamed = stdout.isTTY && expected === undefined;
  const printing = json
    ? printFacts(held, output)
    : showEvents(run, output, isStreamed ? streamText(output) : holdText(output, expected));
  try {
    const end = await run.end;
    // Ends the stream of facts.
    await held.close();
    await printing;
    const misfit = end.reason === "completed" ? findMisfit(expected, end.answer) : undefined;
    if (misfit !== undefined) output.note(misfit, "red");
    if (!json) reportEnd(output, end, await run.run_id, held.session.session_id);
    return endedBySignal ?? (misfit === undefined ? toExitCode(end) : EXIT.failed);
  } finally {
    stopListening();
  }
}

/** Why an answer is not what was asked for; by then the model was asked once more. */
function findMisfit(expected: ExpectedOutput | undefined, answer: string): string | undefined {
  const read = expected?.read(answer);
  if (read === undefined || read.ok) return undefined;
  return `The answer does not fit the schema of --output-schema, also after the model was asked once more: ${visible(read.why)}`;
}

async function showEvents(run: LoopRun, output: Output, texts: AnswerText): Promise<void> {
  for await (const event of run.events()) {
    if (event.type === "text_delta") texts.add(event.text);
    else if (event.type === "end") texts.end(event.end);
    else {
      const line = renderEvent(event, output);
      if (event.type === "abandoned") texts.abandon();
      else if (line !== undefined) texts.interrupt();
      if (line !== undefined) output.note(line);
    }
  }
}

/** Where the text of a model goes. */
interface AnswerText {
  add(text: string): void;
  /** Something else is about to be shown. */
  interrupt(): void;
  /** What came since the last request does not count. */
  abandon(): void;
  end(end: RunEnd): void;
}

/** To stdout as it comes, for one who watches. */
function streamText(output: Output): AnswerText {
  let isLineOpen = false;
  const endLine = (): void => {
    if (isLineOpen) output.line();
    isLineOpen = false;
  };
  return {
    add(text) {
      output.text(visible(text));
      isLineOpen = !text.endsWith("\n");
    },
    interrupt: endLine,
    abandon: endLine,
    end: endLine,
  };
}

/** To stdout once, and only the final answer: what a file or another program gets. Other text goes to stderr. */
function holdText(output: Output, expected: ExpectedOutput | undefined): AnswerText {
  let held = "";
  const note = (text: string): void => {
    if (text.trim() !== "") output.note(visible(text.trimEnd()));
  };
  const interrupt = (): void => {
    note(held);
    held = "";
  };
  return {
    add(text) {
      held += text;
    },
    interrupt,
    abandon() {
      held = "";
    },
    end({ reason, answer }) {
      const isFinal = reason === "completed" || reason === "max_output_tokens";
      const read = expected?.read(answer);
      if (!isFinal || read?.ok === false) return interrupt();
      // An answer before it that a hook or a check sent back.
      if (held.endsWith(answer)) note(held.slice(0, held.length - answer.length));
      if (read?.ok === true) output.line(visibleJson(read.output));
      else if (answer !== "") output.line(visible(answer).replace(/\n$/, ""));
    },
  };
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
      return dim(describeRetry(event));
    case "compacted":
      return dim(
        `the conversation was summed up: ${event.tokens_before} → ${event.tokens_after} tokens`,
      );
    case "fact":
      return renderChildProgress(event.fact, dim);
    case "started":
    case "input":
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
    output.note(`${end.reason}: ${visible(end.error.message)}`, "red");
  }
  const used = describeUsage(end.usage);
  if (used !== "") output.note(used, "dim");
  output.note(
    `\`soong events ${run_id}\` shows what happened, \`soong resume ${session_id}\` continues.`,
    "dim",
  );
}

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
