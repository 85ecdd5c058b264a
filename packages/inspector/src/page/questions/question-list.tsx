// Questions one below the other, those of all live sessions or of one, with what was granted. Answering leads to the next
// that waits.

import { visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerGiven, GrantRow, HomeState, Question } from "../../wire/home-records.ts";
import { RequestFailed } from "../api/client.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { ConfirmButton, LinkButton } from "../parts/button.tsx";
import { Mono, ProblemText } from "../parts/text.tsx";
import { recordedMoment } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { QuestionCard } from "./question-card.tsx";
import {
  answerText,
  isOver,
  writeQuestionKey,
  stateAfterFailure,
  withQuestions,
  withState,
  type QuestionState,
  type ShownQuestion,
} from "./shown-questions.ts";

export function QuestionsView() {
  const grants = useStore(useInspector().home, (state) => state?.grants) ?? [];
  return (
    <section class="view questions">
      <h1>Questions</h1>
      <p class="quiet">
        With the focus on a question: <kbd>y</kbd> allows once, <kbd>s</kbd> for the session,{" "}
        <kbd>n</kbd> denies, <kbd>r</kbd> moves to the reason. Keys work once the question has been
        shown long enough to be read.
      </p>
      <QuestionList empty="No questions are waiting." />
      <h2>Grants</h2>
      {grants.length === 0 ? (
        <p class="quiet">Nothing is granted for a session.</p>
      ) : (
        <ul class="grants">
          {grants.map((grant) => (
            <li key={`${grant.session_id} ${grant.grant_id}`} class="card">
              <Grant grant={grant} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function QuestionList(props: { session_id?: string; empty?: string }) {
  const { shown, answer, putAway } = useShownQuestions(props.session_id);
  const list = useRef<HTMLDivElement>(null);
  /** The key of the question that was answered here last, until the next one has the focus. */
  const answered = useRef<string | undefined>(undefined);
  useEffect(() => {
    const own = shown.find(({ question }) => writeQuestionKey(question) === answered.current);
    if (own === undefined || !isOver(own)) return;
    answered.current = undefined;
    // Only after an answer from here: focus that moves automatically would make answers of keys meant for the page.
    list.current?.querySelector<HTMLElement>("[data-waiting=true]")?.focus();
  }, [shown]);

  return (
    <div class="question-list" ref={list}>
      {shown.every(isOver) && props.empty && <p class="quiet">{props.empty}</p>}
      {shown.map((entry) => (
        <QuestionCard
          key={writeQuestionKey(entry.question)}
          shown={entry}
          onAnswer={(given) => {
            answered.current = writeQuestionKey(entry.question);
            void answer(entry.question, given);
          }}
        />
      ))}
      {shown.some(isOver) && (
        <LinkButton
          onClick={() => {
            putAway();
            document.getElementById("main")?.focus();
          }}
        >
          Clear answered questions
        </LinkButton>
      )}
    </div>
  );
}

/** The questions of all live sessions, or of one, with what became of each that was on the page; and the way to answer. */
function useShownQuestions(session_id: string | undefined) {
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

function Grant({ grant }: { grant: GrantRow }) {
  const { session_id, grant_id, tool_name } = grant;
  const { api, announce } = useInspector();
  const { problem, run } = useAction();
  const revoke = () =>
    run(async () => {
      await api.ask("DELETE /api/grants/:grant_id", { path: { grant_id }, query: { session_id } });
      announce(`Revoked: ${tool_name}.`);
      // It goes from the list, and the focus with it.
      document.getElementById("main")?.focus();
    });

  return (
    <>
      <p>
        <strong class="mono">{visibleLine(tool_name)}</strong> — {visibleLine(grant.covers)}
      </p>
      <p class="quiet">
        Granted by {visibleLine(grant.granted_by)} at {recordedMoment(grant.granted_at)} in{" "}
        <Mono text={grant.project} />, process {grant.pid}, session <Mono text={session_id} />.{" "}
        <a href={linkToTimeline({ session_id, tool_call_id: grant.tool_call_id })}>
          The call that required approval
        </a>
      </p>
      <ProblemText text={problem} />
      <ConfirmButton
        name="Revoke…"
        label={`Revoke the grant for ${tool_name}`}
        question="Such calls will require approval again."
        yes="Revoke it"
        focus="yes"
        busy="Revoking…"
        done="Revoked."
        onConfirm={revoke}
      />
    </>
  );
}
