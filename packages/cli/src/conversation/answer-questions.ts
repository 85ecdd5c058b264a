// The user at this terminal as someone who answers (PERM-4): one question at a time, with what would happen, why
// it is asked and what a yes would cover. It goes from the screen when someone else has answered.

import type { ElicitationAnswer, PermissionAnswer } from "@soong/core";
import { answeredBy, type Responder, type OpenQuestion } from "@soong/control";
import { describeRequest } from "../output/index.ts";
import type { PressedKey, Terminal } from "../terminal/index.ts";
import { answerElicitation, type ElicitationQuestion } from "./answer-elicitation.ts";
import { askAlways } from "./ask-always.ts";
import type { Keyboard } from "./keyboard.ts";

/** Who answered, on record, when it was here. */
export const TERMINAL = "terminal";

export interface AnswerQuestionsOptions {
  readonly terminal: Terminal;
  readonly keyboard: Keyboard;
  /** Rows of the screen. */
  rows(): number;
  /** Ctrl-C at a question: a no, and the turn ends. */
  interrupt(): void;
}

/** What stands around a preview: the tool, why, what a session would cover, the answers, the live lines. */
const ROWS_AROUND = 12;
const FEWEST_ROWS = 6;

export function answerQuestions(options: AnswerQuestionsOptions): Responder {
  const { terminal, keyboard } = options;
  /** Not settled yet; and how many of those that came together are. */
  let waiting = 0;
  let settled = 0;

  return {
    async ask(question, signal) {
      waiting += 1;
      try {
        return await keyboard.first(() => put(question, signal));
      } finally {
        waiting -= 1;
        settled = waiting === 0 ? 0 : settled + 1;
      }
    },
    elicit: ({ request }, signal) => keyboard.first(() => putForm(request, signal)),
  };

  /** Its lines are not those of the conversation: no history has them. */
  async function putForm(
    request: ElicitationQuestion,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer | undefined> {
    if (signal.aborted) return undefined;
    const { columns, colours } = terminal;
    const answer = await answerElicitation(request, { columns, colours, ...createPrompts(signal) });
    if (!signal.aborted) return answer;
    settledElsewhere(signal);
    return undefined;
  }

  function createPrompts(signal: AbortSignal) {
    return {
      show: (text: string) => terminal.print(text),
      async key(question: string, keys: readonly string[]): Promise<string | undefined> {
        const pressed = await terminal.readKey({ question, keys, signal });
        if (pressed.kind === "interrupt") options.interrupt();
        return pressed.kind === "key" ? pressed.key : undefined;
      },
      async line(prompt: string, initial?: string): Promise<string | undefined> {
        const begun = initial === undefined ? {} : { initial };
        const typed = await terminal.readInput({ prompt, signal, ...begun });
        if (typed.kind === "interrupt") options.interrupt();
        return typed.kind === "text" ? typed.text : undefined;
      },
    };
  }

  async function put(
    { request }: OpenQuestion,
    signal: AbortSignal,
  ): Promise<PermissionAnswer | undefined> {
    if (signal.aborted) return undefined;
    const { columns, colours } = terminal;
    const rows = Math.max(FEWEST_ROWS, options.rows() - ROWS_AROUND);
    const shown = describeRequest(request, colours, { rows, columns });
    const count = settled + waiting;
    const place = count === 1 ? "" : colours.dim(`Question ${settled + 1} of ${count}\n`);
    terminal.print(place + shown.text);
    const hasScope = request.scopes.length > 0;
    const canKeep = request.always_rule !== undefined;
    let isCut = shown.hiddenLines > 0;
    for (;;) {
      const pressed = await terminal.readKey({
        question: choices(hasScope, canKeep, isCut),
        keys: [
          "y",
          "n",
          ...(hasScope ? ["s"] : []),
          ...(canKeep ? ["w"] : []),
          ...(isCut ? ["a"] : []),
        ],
        signal,
      });
      if (pressed.kind === "key" && pressed.key === "w") {
        const always = await askAlways(request, createPrompts(signal));
        if (signal.aborted) return settledElsewhere(signal);
        if (always === undefined) continue;
        return { decision: "allow_for_session", always, answered_by: TERMINAL };
      }
      if (pressed.kind !== "key" || pressed.key !== "a") {
        return readAnswer(pressed, signal);
      }
      isCut = false;
      terminal.print(describeRequest(request, colours).text);
    }
  }

  async function readAnswer(
    pressed: PressedKey,
    signal: AbortSignal,
  ): Promise<PermissionAnswer | undefined> {
    switch (pressed.kind) {
      case "aborted":
        return settledElsewhere(signal);
      case "interrupt":
        options.interrupt();
        return NO;
      case "end":
        return NO;
      case "key":
        if (pressed.key === "n") return denial(signal);
        return {
          decision: pressed.key === "s" ? "allow_for_session" : "allow_once",
          answered_by: TERMINAL,
        };
    }
  }

  /** Whoever shows the run tells who answered it, and how. */
  function settledElsewhere(signal: AbortSignal): undefined {
    if (answeredBy(signal) !== undefined) return;
    terminal.print(terminal.colours.dim("The call is gone, and with it the question."));
  }

  async function denial(signal: AbortSignal): Promise<PermissionAnswer | undefined> {
    const typed = await terminal.readInput({ prompt: "Why not? (Enter: no reason) ", signal });
    if (typed.kind === "aborted") return settledElsewhere(signal);
    if (typed.kind === "interrupt") options.interrupt();
    const reason = typed.kind === "text" ? typed.text.trim() : "";
    return reason === "" ? NO : { ...NO, reason };
  }
}

const NO = { decision: "deny", answered_by: TERMINAL } as const;

function choices(hasScope: boolean, canKeep: boolean, isCut: boolean): string {
  const offered = [
    "[y]es, this once",
    ...(hasScope ? ["for this [s]ession"] : []),
    ...(canKeep ? ["al[w]ays"] : []),
    "[n]o",
    ...(isCut ? ["show [a]ll"] : []),
  ];
  return `${offered.join(" / ")}: `;
}
