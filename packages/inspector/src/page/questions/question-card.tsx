// One question that waits: what is asked, and the answers. What is pressed before it could be read is no answer.

import { useEffect, useRef } from "preact/hooks";
import type { AnswerGiven } from "../../wire/home-records.ts";
import { isSequenceBegun } from "../app/keys.ts";
import { useAnswerGuard } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import type { QuestionParts } from "./question-parts.tsx";
import type { ShownQuestion } from "./shown-questions.ts";

export function QuestionCard(props: {
  shown: ShownQuestion;
  onAnswer: (answer: AnswerGiven) => void;
}) {
  const { question, state } = props.shown;
  const card = useRef<HTMLElement>(null);
  const keys: QuestionParts["keys"] = useRef({});
  const guard = useAnswerGuard(() => card.current?.querySelector(".answers"));
  const isSending = state.is === "sending";
  const problem = state.is === "waiting" ? state.problem : undefined;
  const hasFailed = problem !== undefined;
  useEffect(() => {
    // The focus continues from here after an answer.
    if (hasFailed && document.activeElement === document.body) card.current?.focus();
  }, [hasFailed]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.matches(TYPED)) return;
    // A held key must not press a button repeatedly, and was pressed for something else.
    if (event.repeat) {
      if (event.key === "Enter" || event.key === " ") event.preventDefault();
      return;
    }
    // The second key of `g s` is no answer.
    if (isSequenceBegun(event.timeStamp)) return;
    const action = Object.hasOwn(keys.current, event.key) ? keys.current[event.key] : undefined;
    if (action === undefined || isSending) return;
    event.preventDefault();
    event.stopPropagation();
    if (guard.isMeant("key")) action();
  }

  const parts: QuestionParts = {
    is_sending: isSending,
    problem,
    waiting: guard.waiting,
    keys,
    give: (answer, by) => {
      if (!isSending && guard.isMeant(by)) props.onAnswer(answer);
    },
  };
  return (
    <article
      ref={card}
      class="question card"
      tabIndex={0}
      data-waiting="true"
      aria-label={`${question.request.tool_name} asks`}
      onKeyDown={onKeyDown}
      onFocusIn={(event) => {
        const from = event.relatedTarget;
        // Going from one part of it to another is no new beginning.
        if (!(from instanceof Node) || card.current?.contains(from) !== true) guard.focused();
      }}
    >
      {question.kind === "permission" ? (
        <PermissionQuestion question={question} {...parts} />
      ) : (
        <ElicitationQuestion question={question} {...parts} />
      )}
    </article>
  );
}

const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select";
