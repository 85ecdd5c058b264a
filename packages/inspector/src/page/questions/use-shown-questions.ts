// The questions of the page in its state, and the way to answer one.

import { useEffect, useState } from "preact/hooks";
import type { AnswerGiven, HomeState, Question } from "../../wire/home-records.ts";
import { RequestFailed } from "../api/client.ts";
import { useInspector } from "../app/inspector.ts";
import { useStore } from "../state/store.ts";
import {
  answerText,
  isOver,
  stateAfterFailure,
  withQuestions,
  withState,
  type QuestionState,
  type ShownQuestion,
} from "./shown-questions.ts";

/** The questions of all live sessions, or of one, with what became of each that was on the page; and the way to answer. */
export function useShownQuestions(session_id: string | undefined) {
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

  async function answer(question: Question, answer: AnswerGiven): Promise<void> {
    const become = (state: QuestionState) => update((shown) => withState(shown, question, state));
    become({ is: "sending", answer });
    const { session_id, question_id } = question;
    try {
      await api.ask("POST /api/questions/:question_id/answer", {
        path: { question_id },
        body: { session_id, answer },
      });
      become({ is: "answered", answer });
      announce(`${question.request.tool_name}: ${answerText(answer)}.`);
    } catch (error) {
      const { code, message } =
        error instanceof RequestFailed ? error : { code: "failed", message: String(error) };
      become(stateAfterFailure(code, message));
      announce(message);
    }
  }

  return {
    shown,
    answer,
    /** Those that are over. */
    putAway: () => update((shown) => shown.filter((entry) => !isOver(entry))),
  };
}

function isLive({ sessions }: HomeState, { session_id, pid }: Question): boolean {
  return sessions.some((row) => row.session_id === session_id && row.live?.pid === pid);
}
