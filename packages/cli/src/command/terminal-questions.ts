// The question before a call (PERM-6), on a terminal: what would happen, why it is asked, and the three
// answers. It is put on stderr, so that stdout stays what was asked for. One at a time, and only what is typed
// after a question is there answers it.

import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isatty } from "node:tty";
import type { AskElicitation, AskPermission } from "@soong/core";
import { inTime } from "@soong/platform";
import { answerElicitation } from "../conversation/answer-elicitation.ts";
import { askPermission, NO, type Prompts } from "../conversation/ask-permission.ts";
import { describeRequest, type Output } from "../output/index.ts";
import type { CommandContext } from "./handler.ts";

export interface Questions {
  readonly ask: AskPermission;
  /** What a tool wants to know; dismissed when the terminal is gone. */
  readonly elicit: AskElicitation;
  /** Puts a yes-or-no question. No answer is no. */
  confirm(question: string): Promise<boolean>;
}

/** Sends approval requests and questions of tools to the user at this terminal, if there is one. */
export function createUserQuestions({
  isInteractive,
  stdin,
  output,
}: Pick<CommandContext, "isInteractive" | "stdin" | "output">): Partial<
  Pick<Questions, "ask" | "elicit">
> {
  if (!isInteractive) return {};
  const { ask, elicit } = createTerminalQuestions(stdin, output);
  return { ask, elicit };
}

/** `edits`: a rule that is kept may be changed first; not where only its place is sent on. */
export function createTerminalQuestions(
  stdin: NodeJS.ReadStream,
  output: Output,
  { edits = true }: { readonly edits?: boolean } = {},
): Questions {
  let lastQuestion: Promise<unknown> = Promise.resolve();

  return {
    ask: (request, { signal }) =>
      inTurn(async () => {
        // Someone else answered it while it waited, or its call is gone.
        if (signal.aborted) return NO;
        await forgetTypedBefore();
        const { noteColours: colours, width: columns } = output;
        const shown = describeRequest(request, colours, { columns });
        const showAll = (): void => output.note(describeRequest(request, colours).text);
        output.note(shown.text);
        const answer = await askPermission(request, {
          ...createPrompts(signal),
          choose: (question, keys) => readWord(question, keys, signal),
          canEdit: edits,
          showAll: shown.hiddenLines > 0 ? showAll : undefined,
        });
        return answer ?? NO;
      }),
    elicit: (request, { signal }) =>
      inTurn(async () => {
        await forgetTypedBefore();
        const { noteColours: colours, width: columns } = output;
        return answerElicitation(request, { colours, columns, ...createPrompts(signal) });
      }),
    confirm: (question) =>
      inTurn(async () => {
        await forgetTypedBefore();
        const answer = await readLine(`${question} [y/N]: `);
        return ["y", "yes"].includes(answer?.trim().toLowerCase() ?? "");
      }),
  };

  /** Two at once would both take the same line for theirs. */
  function inTurn<T>(put: () => Promise<T>): Promise<T> {
    const answered = lastQuestion.then(put);
    lastQuestion = answered.catch(() => {});
    return answered;
  }

  /** Lines that lie at the terminal already were meant for something else; each turn brings one at most. */
  async function forgetTypedBefore(): Promise<void> {
    let isQuiet = false;
    const forget = (): void => {
      isQuiet = false;
    };
    stdin.on("data", forget).resume();
    await nextTurn();
    while (!isQuiet) {
      isQuiet = true;
      await nextTurn();
    }
    stdin.off("data", forget).pause();
  }

  function createPrompts(signal: AbortSignal): Prompts {
    return {
      show: (text) => output.note(text),
      line: (prompt) => readLine(prompt, signal),
      async key(question, keys) {
        for (;;) {
          const answer = await readLine(question, signal);
          const key = answer?.trim().charAt(0).toLowerCase();
          if (key === undefined || keys.includes(key)) return key;
        }
      },
    };
  }

  /** An answer to a call is a key or its word, and nothing that only begins like one. */
  async function readWord(
    question: string,
    keys: readonly string[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    for (;;) {
      const answer = await readLine(question, signal);
      if (answer === undefined) return undefined;
      const word = answer.trim().toLowerCase();
      const key = WORDS[word] ?? word;
      if (keys.includes(key)) return key;
    }
  }

  function isTerminalGone(): boolean {
    return stdin.isTTY && !isatty((stdin as NodeJS.ReadStream & { fd: number }).fd);
  }

  /** Undefined when the terminal is gone, or the call is. */
  function readLine(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
    if (stdin.readableEnded || stdin.destroyed || signal?.aborted === true) {
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      // The terminal keeps its own line editing, and turns Ctrl-C into a signal.
      const reader = createInterface({ input: stdin, terminal: false });
      let line: string | undefined;
      const stop = (): void => reader.close();
      reader.once("line", (text) => {
        line = text;
        reader.close();
      });
      reader.once("close", () => {
        signal?.removeEventListener("abort", stop);
        stdin.pause();
        if (line === undefined) output.note("");
        if (line === undefined && isTerminalGone())
          void untilHangUp(signal).then(() => resolve(line));
        else resolve(line);
      });
      signal?.addEventListener("abort", stop);
      output.prompt(prompt);
    });
  }
}

/**
 * A terminal that is closed ends its input and sends SIGHUP, in either order. The signal aborts the call; the end of the
 * input alone, as Ctrl-D, is a no that the model reads. A process that ignores the signal is not waited for.
 */
async function untilHangUp(signal: AbortSignal | undefined): Promise<void> {
  if (signal !== undefined) await inTime(new Promise(() => {}), { ms: HANG_UP_MS, signal });
}

const HANG_UP_MS = 2000;

const WORDS: Readonly<Record<string, string>> = {
  yes: "y",
  session: "s",
  always: "w",
  no: "n",
  all: "a",
};
