// The user at this terminal as someone who answers (PERM-4): one question at a time, with what would happen, why
// it is asked and what a yes would cover. It goes from the screen when someone else has answered.

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { answeredBy, type Responder, type OpenQuestion } from "@soong/control";
import { describeRequest } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { answerElicitation } from "./answer-elicitation.ts";
import { askPermission, NO, TERMINAL, type Prompts } from "./ask-permission.ts";
import type { Keyboard } from "./keyboard.ts";

export interface AnswerQuestionsOptions {
  readonly terminal: Terminal;
  readonly keyboard: Keyboard;
  /** Whether the user typed this very call: that is a yes to it. */
  isTyped?(request: PermissionRequest): boolean;
  /** Rows of the screen. */
  rows(): number;
  /** Ctrl-C or Esc at a question: a no, and the turn ends. */
  interrupt(): void;
}

/** What is around a preview: the tool, why, what a session would cover, the answers, the live lines. */
const ROWS_AROUND = 12;
const FEWEST_ROWS = 6;

export function answerQuestions(options: AnswerQuestionsOptions): Responder {
  const { terminal, keyboard } = options;
  /** Not settled yet; and how many of those that came together are. */
  let waiting = 0;
  let settled = 0;
  let isStoppedHere = false;

  return {
    async ask(question, signal) {
      if (options.isTyped?.(question.request) === true && !isAskedEveryTime(question.request)) {
        return { decision: "allow_once", answered_by: TERMINAL };
      }
      waiting += 1;
      try {
        return await keyboard.first(() => put(signal, () => putRequest(question, signal)));
      } finally {
        waiting -= 1;
        settled = waiting === 0 ? 0 : settled + 1;
      }
    },
    // Its lines are not those of the conversation: no history has them.
    elicit: ({ request }, signal) =>
      keyboard.first(() =>
        put(signal, () => {
          const { columns, colours } = terminal;
          return answerElicitation(request, { columns, colours, ...createPrompts(signal) });
        }),
      ),
  };

  /** Undefined where it was settled elsewhere: the view of the run shows who answered it, and how. */
  async function put<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    if (signal.aborted) return undefined;
    isStoppedHere = false;
    const answer = await work();
    if (!signal.aborted) return answer;
    if (answeredBy(signal) === undefined && !isStoppedHere) {
      terminal.print(terminal.colours.dim("The call is gone, and with it the question."));
    }
    return undefined;
  }

  function interrupt(): void {
    isStoppedHere = true;
    options.interrupt();
  }

  function createPrompts(signal: AbortSignal): Prompts {
    return {
      show: (text) => terminal.print(text),
      async key(question, keys) {
        const pressed = await terminal.readKey({ question, keys, signal });
        if (pressed.kind === "interrupt") interrupt();
        return pressed.kind === "key" ? pressed.key : undefined;
      },
      async line(prompt, initial) {
        const typed = await terminal.readInput({ prompt, signal, initial });
        if (typed.kind === "interrupt") interrupt();
        return typed.kind === "text" ? typed.text : undefined;
      },
    };
  }

  async function putRequest(
    { request }: OpenQuestion,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const { columns, colours } = terminal;
    const rows = Math.max(FEWEST_ROWS, options.rows() - ROWS_AROUND);
    const shown = describeRequest(request, colours, { rows, columns });
    const count = settled + waiting;
    const place = count === 1 ? "" : colours.dim(`Question ${settled + 1} of ${count}\n`);
    terminal.print(place + shown.text);
    const prompts = createPrompts(signal);
    const showAll = (): void => terminal.print(describeRequest(request, colours).text);
    const answer = await askPermission(request, {
      ...prompts,
      async choose(question, keys) {
        const pressed = await terminal.readKey({ question, keys, signal });
        if (pressed.kind === "interrupt" || pressed.kind === "escape") interrupt();
        return pressed.kind === "key" ? pressed.key : undefined;
      },
      canEdit: true,
      showAll: shown.hiddenLines > 0 ? showAll : undefined,
    });
    return answer ?? NO;
  }
}

/** A rule wants the question put, each time. */
function isAskedEveryTime({ chain }: PermissionRequest): boolean {
  return chain.some(({ verdict, every_time }) => verdict === "ask" && every_time === true);
}
