// Questions one below the other, those of all live sessions or of one. Answering leads to the next that waits.

import { useEffect, useRef } from "preact/hooks";
import { QuestionCard } from "./question-card.tsx";
import { isOver, keyOf } from "./shown-questions.ts";
import { useShownQuestions } from "./use-shown-questions.ts";

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
    // Only after an answer from here: focus that comes by itself would make answers of keys meant for the page.
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
        <button
          type="button"
          class="link"
          onClick={() => {
            questions.putAway();
            document.getElementById("main")?.focus();
          }}
        >
          Put away what is over
        </button>
      )}
    </div>
  );
}
