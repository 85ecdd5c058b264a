// Answers a stored question: writes a row, which the asking process finds. Used by `soong questions answer`, the inspector and
// `soong attach`, so that all of them refuse the same answers.

import type { ElicitationAnswer, PermissionAnswer } from "@soong/core";
import {
  ControlError,
  describeAnswer,
  readElicitationAnswer,
  readRelayedAnswer,
  readStoredRequest,
  type QuestionAnswer,
} from "@soong/control";
import { asJson } from "@soong/schema";
import type { QuestionRecord, Store } from "@soong/store";
import { visibleLine } from "../../output/index.ts";
import { readWorkedSteps } from "../sessions/session-summary.ts";
import { refuseRuntimeChild, type Actor } from "./actor.ts";

type AnswerStore = Pick<Store, "questions" | "heldSessions" | "factsOfTypes">;

export async function answerStoredQuestion(
  store: AnswerStore,
  session_id: string,
  { question_id, name: _name, ...given }: QuestionAnswer,
  actor: Actor,
): Promise<void> {
  refuseRuntimeChild(actor);
  const { answered_by } = actor;
  const questions = store.questions();
  const question = await requireAnswerable(store, await questions.get(session_id, question_id));
  const isPermission = question.kind === "permission";
  if (isPermission !== "decision" in given) {
    throw new ControlError("bad_params", "This answer is for a question of another kind.");
  }
  const answer = isPermission ? readRelayedAnswer(given) : readElicitationAnswer(given);
  if (typeof answer === "string") {
    throw new ControlError("bad_params", `The answer cannot be used: the question was ${answer}.`);
  }
  if (isYes(answer)) refuseUnseen(question);
  const { taken, question: kept } = await questions.answer(session_id, question_id, {
    answer: { ...asJson(answer), ...(isPermission && { answered_by }) },
    answered_by,
    answered_at: new Date().toISOString(),
  });
  if (!taken) throw refuseSettled(kept);
}

/** Returns the question if an answer would be used; throws otherwise. */
export async function requireAnswerable(
  store: AnswerStore,
  question: QuestionRecord | undefined,
): Promise<QuestionRecord> {
  if (question?.state !== "open") throw refuseSettled(question);
  const { session_id, question_id } = question;
  if ((await store.heldSessions([session_id])).length > 0) return question;
  const step = (await readWorkedSteps(store, [session_id])).get(session_id);
  if (step === undefined) return question;
  // The worker is gone. Its step is done again in another session, which does not use answers of this one.
  await store.questions().settle(session_id, question_id, "withdrawn");
  throw new ControlError(
    "unreachable",
    `The worker that asked this is gone, so the question was withdrawn. The step ${visibleLine(step.step_id)} asks again if another worker takes it (\`soong tasks drive ${visibleLine(step.task_id)}\`).`,
  );
}

/** Only a question that is shown whole can be approved (PERM-19). */
export function refuseUnseen(question: QuestionRecord): void {
  if (readStoredRequest(question).shows_all) return;
  const { kind, question_id, session_id } = question;
  throw new ControlError(
    "bad_params",
    kind === "elicitation"
      ? `This request cannot be shown here, because it was changed or another version wrote it. \`soong questions answer ${visibleLine(question_id)} deny\` declines it.`
      : `What this call would do is not kept, because it is sensitive or very long, so it can only be denied here. It can be approved where it is asked; when that process is gone, \`soong resume ${visibleLine(session_id)}\` asks again and shows it.`,
  );
}

function isYes(answer: PermissionAnswer | ElicitationAnswer): boolean {
  return "decision" in answer ? answer.decision !== "deny" : answer.action === "accept";
}

function refuseSettled(question: QuestionRecord | undefined): ControlError {
  const { answer, answered_by = "someone" } = question ?? {};
  return new ControlError(
    "not_found",
    answer === undefined
      ? "This question is not open any more: its call is gone."
      : `This question was answered already, by ${visibleLine(answered_by)} (${describeAnswer(answer)}).`,
  );
}
