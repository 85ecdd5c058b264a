// The conversation (CLI-1): what is typed becomes turns and commands, until someone leaves. The line stays open while
// a turn continues, so that a user can always type, and Ctrl-C always means something.

import { describeUsage, type LoopRun, type RunEnd } from "@soong/agent";
import type { Clock, ContentBlock, Mode, ToolResult } from "@soong/core";
import type { ApprovalBroker } from "@soong/control";
import { oneLine } from "@soong/schema";
import { EXIT, formatDuration, visible, visibleLine } from "../output/index.ts";
import type { Shortcut, Terminal, Typed } from "../terminal/terminal.ts";
import { answerQuestions } from "./answer-questions.ts";
import { attachFiles } from "./attach-files.ts";
import { readCommandLine } from "./command-line.ts";
import { createDoubleEscape } from "./double-escape.ts";
import { createInputQueue } from "./input-queue.ts";
import { expandResult, showRawAnswer } from "./expand-result.ts";
import { createKeyboard } from "./keyboard.ts";
import { offerMemories } from "./offer-memories.ts";
import { printError, printText } from "./print-text.ts";
import type { PromptHistory } from "./prompt-history.ts";
import { showRun } from "./show-run.ts";
import { createShownResults } from "./shown-results.ts";
import { renderStatus } from "./session-meter.ts";
import type { SharedCommands } from "./slash-command.ts";
import { listCommandNames, runSlashCommand } from "./slash-commands.ts";
import type { Talk } from "./talk.ts";
import { writeRunCommand } from "./transcript.ts";
import {
  completeWord,
  readPaste,
  readPrompt,
  readTypedLine,
  type TypedLine,
  writePrompt,
} from "./typed-line.ts";
import { showCall, type UserCall } from "./user-call.ts";

export interface ConverseOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly talk: Talk;
  readonly broker: ApprovalBroker;
  readonly history: PromptHistory;
  readonly project: string;
  /** Sent as if it had been typed. */
  readonly first?: string | undefined;
  readonly own: SharedCommands;
  rows(): number;
  /** A signal that ends the process: what is under way is ended first. */
  onTermination(listener: (exitCode: number) => void): () => void;
  /** Without waiting for what does not end. */
  quitNow(exitCode: number): void;
  /** Someone has left: what is under way gets a moment to end, and no more. */
  quitSoon(exitCode: number): void;
}

interface Turn {
  /** Undefined until the session has been opened. */
  run?: LoopRun | UserCall;
  isStopping: boolean;
  /** Settles when the run has ended, or does not want to. */
  stopped?: Promise<void>;
  hasEnded: boolean;
  readonly done: Promise<void>;
}

/** Answers with nothing where there is nothing to send. */
type Start = (isStopping: () => boolean) => Promise<LoopRun | UserCall | undefined>;

type Prompt = Extract<TypedLine, { kind: "prompt" }>;

const STOPPED = "interrupted by the user";
/** Of Shift-Tab, as in other agents. */
const MODES_IN_TURN: readonly Mode[] = ["normal", "accept_edits", "plan"];

/** Answers with the exit code; everything is on record by then. */
export async function converse(options: ConverseOptions): Promise<number> {
  const { terminal, clock, talk, broker, history, project, own } = options;
  const { dim, red, cyan } = terminal.colours;
  const PROMPT = cyan("› ");
  const keyboard = createKeyboard(terminal);
  const leaving = new AbortController();
  const complete = completeWord(project, () => listCommandNames(own));
  let exitCode: number = EXIT.ok;
  let turn: Turn | undefined;
  let isLastChance = false;
  let lastDiff: string | undefined;
  const escapes = createDoubleEscape(clock, showPinned);
  const queue = createInputQueue(showPinned);
  const results = createShownResults();

  const endings = [
    broker.addResponder(
      answerQuestions({
        terminal,
        keyboard,
        rows: () => options.rows(),
        isTyped: ({ run_id }) => talk.isTyped(run_id),
        interrupt,
      }),
    ),
    terminal.onInterrupt(interrupt),
    terminal.onShortcut(pressShortcut),
    options.onTermination((code) => leave(code)),
  ];
  talk.meter.onChange(showPinned);
  showPinned();
  try {
    if (talk.isKept) talk.meter.reset(await own.usedBefore(talk.session_id));
    if (options.first !== undefined) {
      terminal.print(PROMPT + visible(options.first).replaceAll("\n", "\n  "));
      await takeFirst(options.first);
    } else if (talk.wasInterrupted) {
      terminal.print(dim("The runtime was stopped in the middle of this run; it continues now."));
      begin("", () => talk.resume());
    }
    while (!leaving.signal.aborted) {
      const typed = await keyboard.readInput({
        prompt: PROMPT,
        history: history.entries,
        complete,
        keys: { escape: pressEscape, up: (text) => (text === "" ? queue.takeBack() : undefined) },
        // What is queued is shown as such, and in its place once it is sent.
        isEchoed: (text) => turn === undefined || readTypedLine(text).kind !== "prompt",
        paste: readPaste,
        pinned: true,
        signal: leaving.signal,
      });
      await take(typed);
    }
    await turn?.stopped;
    if (turn?.run === undefined || turn.hasEnded) await turn?.done;
    return exitCode;
  } finally {
    escapes.forget();
    for (const end of endings) end();
  }

  function pressShortcut(key: Shortcut): void {
    if (key === "next_mode") return useNextMode();
    if (key === "show_raw") return showRawAnswer({ terminal, results });
    void expandResult({ terminal, talk, results }, results.next()).catch((error: unknown) =>
      printError(terminal, error),
    );
  }

  /** The status line shows it; a turn keeps the mode it began with. */
  function useNextMode(): void {
    const next = MODES_IN_TURN[MODES_IN_TURN.indexOf(talk.mode) + 1] ?? "normal";
    talk.useMode(next);
    if (turn !== undefined)
      printText(terminal, `From the next prompt on the mode is ${next}.`, dim);
    showPinned();
  }

  function leave(code: number): void {
    if (leaving.signal.aborted) return;
    exitCode = code;
    leaving.abort();
    options.quitSoon(code);
    if (turn !== undefined) stop(turn);
  }

  /** Ctrl-C wherever it was pressed, while there is something to stop. */
  function interrupt(): void {
    if (turn?.isStopping === true) options.quitNow(EXIT.interrupted);
    else stopTurn();
  }

  function stopTurn(): void {
    if (turn === undefined || turn.isStopping) return;
    terminal.print(dim("Stopping; Ctrl-C leaves at once."));
    stop(turn);
  }

  /** Stops the turn and leaves the line as it is; at rest, twice clears the line or goes back. */
  function pressEscape(text: string): string | undefined {
    if (turn !== undefined) {
      stopTurn();
      return undefined;
    }
    if ((text === "" && !talk.isKept) || !escapes.press(text)) return undefined;
    if (text === "") void takeText("/rewind");
    // The arrows bring it back.
    else void remember(text);
    return "";
  }

  function showPinned(): void {
    const { model, mode, meter, window } = talk;
    const { usage, contextTokens } = meter;
    const parts = { model, mode, usage, contextTokens, window, queued: queue.length };
    terminal.pin(
      [...queue.lines(), ...escapes.lines(), renderStatus(parts, terminal.columns - 1)].map(
        (line) => dim(line),
      ),
    );
  }

  function stop(under: Turn): void {
    under.isStopping = true;
    const stopped = under.run?.abort(STOPPED);
    if (stopped !== undefined) under.stopped = stopped;
  }

  async function take(typed: Typed): Promise<void> {
    const wasLastChance = isLastChance;
    isLastChance = false;
    switch (typed.kind) {
      case "aborted":
      case "escape":
        return;
      case "end":
        leave(turn === undefined ? EXIT.ok : EXIT.interrupted);
        return;
      case "interrupt":
        if (turn !== undefined) {
          keyboard.giveBack(typed.text);
          interrupt();
        } else if (typed.text.trim() === "" && wasLastChance) leave(EXIT.ok);
        else if (typed.text.trim() === "") {
          isLastChance = true;
          terminal.print(dim("Ctrl-C once more to quit; everything is kept."));
        }
        return;
      case "text":
        if (typed.text.trim() !== "") await takeText(typed.text);
        return;
    }
  }

  /** Of the command line, where a script may have put it together: it is a prompt, or a command of the conversation that runs nothing. */
  async function takeFirst(text: string): Promise<void> {
    await takeText(readTypedLine(text).kind === "command" ? text : writePrompt(text));
  }

  async function takeText(text: string): Promise<void> {
    await remember(text);
    const line = readTypedLine(text);
    switch (line.kind) {
      case "command":
        return takeCommand(text, line);
      case "shell":
        return takeShell(text, line.command);
      case "note":
        return report(async () => terminal.print(dim(await own.remember(line.text))));
      case "prompt":
        return takePrompt(text, line);
    }
  }

  async function takePrompt(typed: string, prompt: Prompt): Promise<void> {
    if (turn !== undefined) return join(turn, typed, prompt);
    begin(typed, async (isStopping) => {
      const blocks = await withFiles(prompt);
      return blocks === undefined || isStopping() ? undefined : talk.send(blocks);
    });
  }

  async function takeCommand(
    text: string,
    line: Extract<TypedLine, { kind: "command" }>,
  ): Promise<void> {
    const isRunning = turn !== undefined;
    const left = leaving.signal;
    const host = { terminal, keyboard, talk, project, isRunning, results, lastDiff, own, left };
    const end = await runSlashCommand(host, line);
    showPinned();
    if (end === "quit") leave(turn === undefined ? EXIT.ok : EXIT.interrupted);
    else if (end === "not_now") keyboard.giveBack(text);
    else if (end === "compact" && !talk.isKept) terminal.print("Nothing was said yet.");
    else if (end === "continue") begin("", () => talk.resume());
    else if (end === "compact") begin("", () => talk.compact());
    else if (typeof end === "object" && "send" in end) await takePrompt(text, readPrompt(end.send));
    else if (typeof end === "object") keyboard.giveBack(end.draft);
  }

  /** A call of the user's own: typing it is the yes to it, and the model reads what came of it with the next prompt. */
  function takeShell(text: string, command: string): Promise<void> | void {
    if (turn !== undefined) {
      terminal.print("A command has to wait for the end of the turn; Esc ends it.");
      return keyboard.giveBack(text);
    }
    return report(async () => {
      const argv = readCommandLine(command);
      if (argv === undefined) terminal.print("!command runs a command, such as !git status.");
      else begin(text, () => talk.call("code.run_command", { argv: [...argv] }));
    });
  }

  /** What goes wrong is printed, and the conversation continues. */
  async function report(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      printError(terminal, error);
    }
  }

  async function remember(text: string): Promise<void> {
    const problem = await history.add(text);
    if (problem !== undefined) printText(terminal, problem, dim);
  }

  function begin(typed: string, start: Start): void {
    const begun: Turn = {
      isStopping: false,
      hasEnded: false,
      done: conduct().finally(() => {
        turn = undefined;
      }),
    };
    turn = begun;

    async function conduct(): Promise<void> {
      // After `turn` is set, even if it fails at once.
      await Promise.resolve();
      try {
        let next: Start | undefined = start;
        while (next !== undefined) next = await conductRun(next);
      } catch (error) {
        // Such as a store that cannot be written: the words are not lost.
        printError(terminal, error);
        keyboard.giveBack(typed);
        giveQueuedBack();
      }
    }

    /** Answers with what comes next: a prompt that came too late for this run. */
    async function conductRun(startRun: Start): Promise<Start | undefined> {
      const run = await startRun(() => begun.isStopping);
      if (run === undefined) {
        keyboard.giveBack(typed);
        giveQueuedBack();
        return undefined;
      }
      const since = clock.monotonic();
      begun.run = run;
      begun.hasEnded = false;
      // What is typed during a command of the user's own is for a model, and so comes behind it.
      if ("queue" in run) queue.follow(run);
      void run.end.then(() => {
        begun.hasEnded = true;
      });
      if (begun.isStopping) stop(begun);
      const end = await showRun(run, {
        terminal,
        clock,
        results,
        changed: showChange,
        inputTaken: showTaken,
      });
      if ("result" in run) noteCall(typed, await run.result);
      else {
        reportEnd(end, clock.monotonic() - since, begun.isStopping && end.reason !== "completed");
      }
      if (end.reason !== "completed" || begun.isStopping) {
        giveQueuedBack();
        return undefined;
      }
      const left = queue.drain();
      if (left.length === 0) {
        if ("queue" in run) void begun.done.then(() => report(offerProposed));
        return undefined;
      }
      for (const { text } of left) showSaid(text);
      return () => talk.send(left.flatMap(({ blocks }) => blocks));
    }
  }

  /** A turn that is under way gets it with its next request, and no call is touched for it. */
  async function join(under: Turn, text: string, prompt: Prompt): Promise<void> {
    const blocks = await withFiles(prompt);
    if (blocks === undefined || under.isStopping || !queue.add({ text, blocks })) {
      keyboard.giveBack(text);
    } else if (!terminal.hasScreen) {
      terminal.print(dim(`Queued for the next request: ${visibleLine(prompt.text)}`));
    }
  }

  /** What was queued first is part of the conversation now. */
  function showTaken(blocked: string | undefined): void {
    const { text } = queue.shift() ?? { text: "" };
    showSaid(text);
    if (blocked !== undefined) {
      printText(terminal, `A hook blocked this prompt: ${blocked}`, red);
    }
  }

  /** With a screen; without one it is there as it was typed. */
  function showSaid(text: string): void {
    if (terminal.hasScreen) terminal.print(PROMPT + visible(text).replaceAll("\n", "\n  "));
  }

  function giveQueuedBack(): void {
    const left = queue.drain();
    if (left.length === 0) return;
    terminal.print(dim("What was queued is in the line again."));
    keyboard.giveBack(left.map(({ text }) => text).join("\n"));
  }

  async function withFiles({ text, mentions }: Prompt): Promise<ContentBlock[] | undefined> {
    const { model, takesImages } = talk;
    const attached = await attachFiles(mentions, {
      project,
      model,
      takesImages,
      readFile: (path, isTyped) => talk.readFile(path, { about: text, isTyped }),
    });
    if (attached.ok) return [{ type: "text", text }, ...attached.blocks];
    for (const problem of attached.problems) printText(terminal, problem, red);
    terminal.print("Nothing was sent.");
    return undefined;
  }

  /** The model reads what the user ran, with the next prompt. */
  function noteCall(typed: string, result: ToolResult): void {
    const output = showCall(terminal, result);
    if (output === undefined) return;
    talk.addNote(writeRunCommand(oneLine(typed.trim().slice(1)), output));
  }

  async function offerProposed(): Promise<void> {
    if (leaving.signal.aborted) return;
    const proposed = await own.proposedMemories(talk.session_id);
    // The next prompt was quicker: it will be offered after that.
    if (turn !== undefined) return;
    await offerMemories(proposed, { terminal, keyboard, signal: leaving.signal });
  }

  function showChange(diff: string): void {
    lastDiff = diff;
  }

  /** `isOurs`: it was stopped here. */
  function reportEnd(end: RunEnd, ms: number, isOurs: boolean): void {
    const { error, reason } = end;
    if (isOurs) terminal.print(dim("Stopped. What was done is on record."));
    else if (error !== undefined) printText(terminal, `${reason}: ${error.message}`, red);
    // One that failed before it asked has used nothing.
    const used = [describeUsage(end.usage), formatDuration(ms)].filter((part) => part !== "");
    printText(terminal, used.join(" · "), dim);
  }
}
