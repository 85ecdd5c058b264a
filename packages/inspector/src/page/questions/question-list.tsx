// Questions one below the other, those of all live sessions or of one. Answering leads to the next that waits.

import { LinkButton } from "../parts/button.tsx";
import { useEffect, useRef } from "preact/hooks";
import { QuestionCard } from "./question-card.tsx";
import { isOver, keyOf } from "./shown-questions.ts";
import { useShownQuestions } from "./use-shown-questions.ts";
import { useInspector } from "../app/context.ts";
import { GrantList } from "./grant-list.tsx";

export function QuestionsView() {
  const { about } = useInspector();
  if (!about.can.answer) {
    return (
      <section class="view">
        <h1>Questions</h1>
        <p>This inspector is not connected to live runtimes.</p>
      </section>
    );
  }
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
      <GrantList />
    </section>
  );
}

export function QuestionList(props: { session_id?: string; empty?: string }) {
  const questions = useShownQuestions(props.session_id);
  const { shown } = questions;
  const list = useRef<HTMLDivElement>(null);
  const waiting = shown.filter((entry) => !isOver(entry)).length;
  /** The key of the question that was answered here last, until the next one has the focus. */
  const answered = useRef<string | undefined>(undefined);
  useEffect(() => {
    const own = shown.find(({ question }) => keyOf(question) === answered.current);
    if (own === undefined || !isOver(own)) return;
    answered.current = undefined;
    // Only after an answer from here: focus that moves automatically would make answers of keys meant for the page.
    list.current?.querySelector<HTMLElement>("[data-waiting=true]")?.focus();
  }, [shown]);

  return (
    <div class="question-list" ref={list}>
      {waiting === 0 && props.empty !== undefined && <p class="quiet">{props.empty}</p>}
      {shown.map((entry) => (
        <QuestionCard
          key={keyOf(entry.question)}
          shown={entry}
          onAnswer={(given) => {
            answered.current = keyOf(entry.question);
            questions.answer(entry.question, given);
          }}
        />
      ))}
      {shown.some(isOver) && (
        <LinkButton
          onClick={() => {
            questions.putAway();
            document.getElementById("main")?.focus();
          }}
        >
          Clear answered questions
        </LinkButton>
      )}
    </div>
  );
}
