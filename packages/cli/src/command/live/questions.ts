// `soong questions`: lists and answers open questions, also those of a runtime that is gone (PERM-20). An approval needs a terminal
// that shows the whole question (PERM-19): a command that a model runs cannot answer for the user.

import type { ElicitationAnswer, PermissionAnswer } from "@soong/core";
import { describeStoredQuestion } from "@soong/core/internal";
import { asJson, omitUndefined } from "@soong/schema";
import type { QuestionRecord } from "@soong/store";
import { describeAnswer, readStoredRequest } from "@soong/control";
import { describeAge, describeRequest, UsageError, visibleLine } from "../../output/index.ts";
import type { Handler } from "../handler.ts";
import { matchId, type IdSubject } from "../match-id.ts";
import { describeWorkedStep, readWorkedSteps } from "../sessions/session-summary.ts";
import { withReadOnlyStore, withStore } from "../stored.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import { answerStoredQuestion, refuseUnseen, requireAnswerable } from "./answer-stored-question.ts";
import { readOpenQuestions, readQuestionPlaces, type QuestionPlace } from "./open-questions.ts";

export const listQuestions: Handler<"questions"> = async (context) => {
  const { output, json, print } = context;
  const { bold, dim } = output.colours;
  const open = await withReadOnlyStore<OpenQuestion[]>(
    context,
    () => [],
    async (store, redactor) => {
      const questions = await readOpenQuestions(store, redactor);
      const places = await readQuestionPlaces(store, questions);
      return questions.map((one) => ({ question: one, place: places.get(one.session_id) }));
    },
  );
  for (const { question, place } of open) {
    print(question, () => {
      const { question_id, tool_name, session_id, asked_at } = question;
      const { kind, request } = readStoredRequest(question);
      const { reason, message } = request as { reason?: string; message?: string };
      const what =
        kind === "permission" ? describeStoredQuestion(tool_name, request) : visibleLine(tool_name);
      const why = reason ?? message;
      return [
        `${bold(visibleLine(question_id))}  ${what}`,
        ...(why === undefined ? [] : [`    ${visibleLine(why)}`]),
        dim(
          `    asked ${describeAge(asked_at, Date.now())} in ${visibleLine(session_id)}${describePlace(place)}`,
        ),
      ];
    });
  }
  if (open.length === 0 && !json) output.note("No question is open.");
};

interface OpenQuestion {
  readonly question: QuestionRecord;
  readonly place: QuestionPlace | undefined;
}

/** Tells apart the same question of two workers. */
function describePlace({ project, worker_of }: QuestionPlace = {}): string {
  const where = project === undefined ? "" : `, ${visibleLine(project)}`;
  return `${where}${worker_of === undefined ? "" : `, ${describeWorkedStep(worker_of)}`}`;
}

const DECISIONS = new Map([
  ["allow", "allow_once"],
  ["session", "allow_for_session"],
  ["deny", "deny"],
] as const);
const NEVER = { signal: new AbortController().signal };

/** Without a decision the user is asked at the terminal. */
export const answerQuestion: Handler<"questions answer"> = async (
  context,
  { id, decision },
  { reason },
) => {
  const { output, stdin, env } = context;
  const chosen = DECISIONS.get(decision as "allow");
  if (decision !== undefined && chosen === undefined) {
    throw new UsageError(`The answer is allow, session or deny, and not ${visibleLine(decision)}.`);
  }
  if (chosen !== "deny" && !context.isInteractive) {
    throw new UsageError(
      "A yes needs a terminal, where the question is shown whole. `deny` works without one.",
    );
  }
  await withStore(context, async (store) => {
    const found = matchId(id, await store.questions().list(), QUESTION);
    const question = await requireAnswerable(store, found);
    const { session_id, question_id } = question;
    const answer = await chooseAnswer(question);
    await answerStoredQuestion(
      store,
      session_id,
      { question_id, ...answer },
      // As with attach: `terminal` alone is the one of the run.
      { answered_by: context.isInteractive ? "control:terminal" : "control:program", env },
    );
    output.line(`answered ${visibleLine(question_id)}: ${describeAnswer(asJson(answer))}`);
    const step = (await readWorkedSteps(store, [session_id])).get(session_id);
    output.note(
      step === undefined
        ? `A live session uses it now; if it is gone, \`soong resume ${visibleLine(session_id)}\` does, unless what the call would do has changed.`
        : `The worker of step ${visibleLine(step.step_id)} uses it now; if that is gone, the step asks again when another worker has it: \`soong questions\`.`,
      "dim",
    );
  });

  async function chooseAnswer(
    question: QuestionRecord,
  ): Promise<PermissionAnswer | ElicitationAnswer> {
    const stored = readStoredRequest(question);
    const { ask, elicit } = createTerminalQuestions(stdin, output, { edits: false });
    if (stored.kind === "elicitation") {
      if (chosen === "deny") return { action: "decline" };
      if (chosen !== undefined) throw new UsageError("This question wants words, and not a yes.");
      refuseUnseen(question);
      return elicit(stored.request, NEVER);
    }
    if (chosen === "deny") return omitUndefined({ decision: chosen, reason });
    refuseUnseen(question);
    const shown = stored.request;
    if (chosen === undefined) return ask(shown, NEVER);
    if (chosen === "allow_for_session" && shown.scopes.length === 0) {
      throw new UsageError(visibleLine(shown.session_scope));
    }
    output.note(describeRequest(shown, output.noteColours).text);
    return omitUndefined({ decision: chosen, reason });
  }
};

const QUESTION: IdSubject<QuestionRecord> = {
  kind: "question",
  prefix: "ask_",
  id: ({ question_id }) => question_id,
  describe: ({ tool_name, asked_at }) =>
    `${visibleLine(tool_name)}  ${describeAge(asked_at, Date.now())}`,
  hint: "It may be answered already, or its call be gone: `soong questions` lists those that are open.",
};
