// The questions on the page: those that wait, in the order they were asked, and those that were settled while the user
// looked at them. They stay in their places until they are put away, so that nothing moves under the pointer.

import type { AnswerGiven, Question } from "../../wire/home-records.ts";

export interface ShownQuestion {
  readonly question: Question;
  readonly state: QuestionState;
}

export type QuestionState =
  | { readonly is: "waiting"; readonly problem?: string }
  | { readonly is: "sending"; readonly answer: AnswerGiven }
  | { readonly is: "answered"; readonly answer: AnswerGiven }
  /** Someone else answered, or the call is over. */
  | { readonly is: "settled_elsewhere"; readonly message?: string }
  /** No one waits for an answer any more. */
  | { readonly is: "gone"; readonly message?: string };

/** The questions of now, merged into what was shown. `isLive`: whether the process that asked is still there. */
export function withQuestions(
  shown: readonly ShownQuestion[],
  current: readonly Question[],
  isLive: (question: Question) => boolean,
): readonly ShownQuestion[] {
  const waiting = new Map(current.map((question) => [writeQuestionKey(question), question]));
  let hasChanged = false;
  const kept = shown.map((entry): ShownQuestion => {
    const again = waiting.get(writeQuestionKey(entry.question));
    waiting.delete(writeQuestionKey(entry.question));
    if (entry.state.is !== "waiting" || again !== undefined) return entry;
    hasChanged = true;
    return { ...entry, state: { is: isLive(entry.question) ? "settled_elsewhere" : "gone" } };
  });
  const fresh = [...waiting.values()]
    .toSorted((a, b) => Date.parse(a.asked_at) - Date.parse(b.asked_at))
    .map((question): ShownQuestion => ({ question, state: { is: "waiting" } }));
  return hasChanged || fresh.length > 0 ? [...kept, ...fresh] : shown;
}

export function withState(
  shown: readonly ShownQuestion[],
  question: Question,
  state: QuestionState,
): readonly ShownQuestion[] {
  return shown.map((entry) =>
    writeQuestionKey(entry.question) === writeQuestionKey(question) ? { ...entry, state } : entry,
  );
}

export function isOver({ state }: ShownQuestion): boolean {
  return state.is !== "waiting" && state.is !== "sending";
}

/** The one that was chosen while it waits; after that the next one that does, or else the one before. */
export function findCurrent(
  shown: readonly ShownQuestion[],
  chosen: string | undefined,
): ShownQuestion | undefined {
  const at = shown.findIndex(({ question }) => writeQuestionKey(question) === chosen);
  const from = Math.max(0, at);
  return (
    shown.slice(from).find((entry) => !isOver(entry)) ??
    shown.slice(0, from).findLast((entry) => !isOver(entry))
  );
}

/** The ids of questions are those of their sessions. */
export function writeQuestionKey({ session_id, question_id }: Question): string {
  return JSON.stringify([session_id, question_id]);
}

/** What became of an answer that was refused with this code. */
export function stateAfterFailure(code: string, message: string): QuestionState {
  if (code === "gone") return { is: "gone", message };
  return code === "settled" || code === "not_found"
    ? { is: "settled_elsewhere", message }
    : { is: "waiting", problem: message };
}

const ANSWERS = {
  allow_once: "allowed once",
  allow_for_session: "allowed for the session",
  deny: "denied",
  accept: "accepted",
  decline: "declined",
  cancel: "cancelled",
} as const;

export function answerText(answer: AnswerGiven): string {
  return ANSWERS["decision" in answer ? answer.decision : answer.action];
}
