// The questions of all live sessions, or of one, with what became of each that was on the page; and the way to answer.

import { useEffect, useState } from "preact/hooks";
import type { AnswerGiven, HomeState, Question } from "../../wire/index.ts";
import { RequestFailed } from "../api/client.ts";
import { useInspector } from "../app/context.ts";
import { useStore } from "../state/store.ts";
import {
  isOver,
  stateAfterFailure,
  withQuestions,
  withState,
  type ShownQuestion,
} from "./shown-questions.ts";

interface ShownQuestions {
  readonly shown: readonly ShownQuestion[];
  answer(question: Question, answer: AnswerGiven): void;
  /** Those that are over. */
  putAway(): void;
}

export function useShownQuestions(session_id: string | undefined): ShownQuestions {
  const { api, home, announce } = useInspector();
  const state = useStore(home);
  const [shown, update] = useState<readonly ShownQuestion[]>([]);

  useEffect(() => {
    if (state === undefined) return;
    const own = state.questions.filter(
      (question) => session_id === undefined || question.session_id === session_id,
    );
    update((shown) => withQuestions(shown, own, (question) => isLive(state, question)));
  }, [state?.questions, state?.sessions, session_id]);

  async function send(question: Question, answer: AnswerGiven): Promise<void> {
    update((shown) => withState(shown, question, { is: "sending", answer }));
    const { session_id, question_id } = question;
    try {
      await api.ask("POST /api/questions/:question_id/answer", {
        path: { question_id },
        body: { session_id, answer },
      });
      update((shown) => withState(shown, question, { is: "answered", answer }));
      announce(`${question.request.tool_name}: ${answerText(answer)}.`);
    } catch (error) {
      const { code, message } =
        error instanceof RequestFailed ? error : { code: "failed", message: String(error) };
      update((shown) => withState(shown, question, stateAfterFailure(code, message)));
      announce(message);
    }
  }

  return {
    shown,
    answer: (question, answer) => void send(question, answer),
    putAway: () => update((shown) => shown.filter((entry) => !isOver(entry))),
  };
}

function isLive(home: HomeState, { session_id, pid }: Question): boolean {
  return home.sessions.some(
    (session) => session.session_id === session_id && session.live?.pid === pid,
  );
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
