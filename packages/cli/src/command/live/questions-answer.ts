// `soong questions answer`: answers an open question (PERM-20). A yes needs a terminal, and the whole question on it
// (PERM-19): a command that a model runs cannot answer for the user.

import type { JsonObject } from "@soong/core";
import { asJson } from "@soong/schema";
import type { QuestionRecord, Store } from "@soong/store";
import { describeAnswer, readStoredRequest } from "@soong/control";
import {
  CommandError,
  describeRequest,
  EXIT,
  UsageError,
  visibleLine,
} from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { withStore } from "../stored.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import { argument, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "answer",
  summary: "answer one; a stopped session uses the answer when it is resumed",
  arguments: [
    argument("<id>", "id or unique prefix, as `soong questions` lists it"),
    argument("[decision]", "allow, session or deny; default: ask at this terminal"),
  ],
  options: [option("--reason <text>", "sent to the model")],
  examples: [
    "soong questions answer ask_0abc",
    `soong questions answer ask_0abc deny --reason "not on main"`,
  ],
  exitCodes: "0 answered, 1 it is not open any more, 2 usage error",
  run: answerQuestion,
};

interface AnswerOptions {
  readonly reason?: string;
}

const DECISIONS = new Map([
  ["allow", "allow_once"],
  ["session", "allow_for_session"],
  ["deny", "deny"],
] as const);

/** `decision` default: the question is put at the terminal. */
async function answerQuestion(
  context: CommandContext,
  id: string,
  decision: string | undefined,
  { reason }: AnswerOptions,
): Promise<number> {
  const { output } = context;
  const chosen = DECISIONS.get(decision as "allow");
  if (decision !== undefined && chosen === undefined) {
    throw new UsageError(`The answer is allow, session or deny, and not ${visibleLine(decision)}.`);
  }
  if (chosen !== "deny" && !context.isInteractive) {
    throw new UsageError(
      "A yes needs a terminal, where the question is shown whole. `deny` works without one.",
    );
  }
  return withStore(context, async (store) => {
    const question = await findQuestion(store, id);
    const answer = await answerTo(question);
    const { taken, question: kept } = await store
      .questions()
      .answer(question.session_id, question.question_id, {
        answer,
        answered_by: TERMINAL,
        answered_at: new Date().toISOString(),
      });
    if (!taken) throw new CommandError(describeSettled(kept));
    output.line(`answered ${visibleLine(question.question_id)}: ${describeAnswer(answer)}`);
    output.note(
      output.noteColours.dim(
        `A live session uses it now; if it is gone, \`soong resume ${visibleLine(question.session_id)}\` does, unless the plan has changed.`,
      ),
    );
    return EXIT.ok;
  });

  async function answerTo(question: QuestionRecord): Promise<JsonObject> {
    const stored = readStoredRequest(question);
    if (stored.kind === "elicitation") {
      if (chosen === "deny") return { action: "decline" };
      if (chosen !== undefined) throw new UsageError("This question wants words, and not a yes.");
      const { elicit } = createTerminalQuestions(context.stdin, output);
      return asJson(await elicit(stored.request, NEVER));
    }
    const why: JsonObject = reason === undefined ? {} : { reason };
    if (chosen === "deny") return { decision: chosen, answered_by: TERMINAL, ...why };
    if (!stored.shows_all) {
      throw new CommandError(
        `What this call would do is not kept, because it is sensitive or very long, so it can only be denied here. \`soong resume ${visibleLine(question.session_id)}\` asks again and shows it.`,
      );
    }
    const shown = stored.request;
    if (chosen === undefined) {
      const { ask } = createTerminalQuestions(context.stdin, output);
      return asJson(await ask(shown, NEVER));
    }
    if (chosen === "allow_for_session" && shown.scopes.length === 0) {
      throw new UsageError(visibleLine(shown.session_scope));
    }
    output.note(describeRequest(shown, output.noteColours, { columns: output.width }).text);
    return { decision: chosen, answered_by: TERMINAL, ...why };
  }
}

const TERMINAL = "terminal";
const NEVER = { signal: new AbortController().signal };

/** By its id or the beginning of it, among those that are open; else by what became of it. */
async function findQuestion(store: Store, id: string): Promise<QuestionRecord> {
  const open = await store.questions().list();
  const meant = open.filter(({ question_id }) => question_id === id);
  const found = meant.length > 0 ? meant : open.filter((one) => one.question_id.startsWith(id));
  const [question, another] = found;
  if (another !== undefined) {
    throw new CommandError(`Several questions begin with ${visibleLine(id)}; give more of the id.`);
  }
  if (question?.state === "open") return question;
  if (question !== undefined) throw new CommandError(describeSettled(question));
  throw new CommandError(
    `No open question has the id ${visibleLine(id)}: it was answered, or its call is gone. \`soong questions\` lists those that are open.`,
  );
}

function describeSettled(question: QuestionRecord | undefined): string {
  const { answer, answered_by } = question ?? {};
  if (answer === undefined) return "This question is not open any more: its call is gone.";
  const by = visibleLine(answered_by ?? "someone");
  return `This question was answered already, by ${by} (${describeAnswer(answer)}).`;
}
