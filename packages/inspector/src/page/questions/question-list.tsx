// Questions one below the other, those of all live sessions or of one. Answering leads to the next that waits.

import { useEffect, useRef } from "preact/hooks";
import { QuestionCard } from "./question-card.tsx";
import { isOver, keyOf } from "./shown-questions.ts";
import { useShownQuestions } from "./use-shown-questions.ts";

export function QuestionList(props: { session_id?: string; empty?: string }) {
  const questions = useShownQuestions(props.session_id);
  const { shown, changed_at } = questions;
  const list = useRef<HTMLDivElement>(null);
  const waiting = shown.filter((entry) => !isOver(entry)).length;
  const before = useRef(waiting);
  useEffect(() => {
    // The card that had the focus has no buttons any more: the next one takes it, and its keys wait until it is read.
    const hadFocus = list.current?.contains(document.activeElement) === true;
    const lostFocus = document.activeElement === document.body;
    if (waiting < before.current && (hadFocus || lostFocus)) {
      list.current?.querySelector<HTMLElement>("[data-waiting=true]")?.focus();
    }
    before.current = waiting;
  }, [waiting]);

  return (
    <div class="question-list" ref={list}>
      {waiting === 0 && props.empty !== undefined && <p class="quiet">{props.empty}</p>}
      {shown.map((entry) => (
        <QuestionCard
          key={keyOf(entry.question)}
          shown={entry}
          changed_at={changed_at}
          onAnswer={(given) => questions.answer(entry.question, given)}
        />
      ))}
      {shown.some(isOver) && (
        <button type="button" class="link" onClick={() => questions.putAway()}>
          Put away what is over
        </button>
      )}
    </div>
  );
}
