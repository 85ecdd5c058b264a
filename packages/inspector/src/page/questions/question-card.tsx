// One question: what is asked, the answers, and after that what became of it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/index.ts";
import { isSequenceBegun } from "../app/use-keys.ts";
import { isDeliberate, useLastMoved } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import { DECLINE, permissionChoices, type QuestionParts } from "./question-parts.tsx";
import { SettledQuestion } from "./settled-question.tsx";
import { isOver, type ShownQuestion } from "./shown-questions.ts";

export function QuestionCard(props: {
  shown: ShownQuestion;
  onAnswer: (answer: AnswerGiven) => void;
}) {
  const { question, state } = props.shown;
  const card = useRef<HTMLElement>(null);
  const focused_at = useRef<number | undefined>(undefined);
  const lastMoved = useLastMoved(() => card.current?.querySelector(".answers"));
  const [isTooSoon, setTooSoon] = useState(false);
  const isSending = state.is === "sending";
  const hasFailed = state.is === "waiting" && state.problem !== undefined;
  useEffect(() => {
    // The focus continues from here after an answer.
    if (hasFailed && document.activeElement === document.body) card.current?.focus();
  }, [hasFailed]);

  /** What was pressed before the question could be read is not an answer. */
  function isMeant(seen: { focused_at?: number | undefined }, is_repeat: boolean): boolean {
    const times = { shown_at: lastMoved(), ...seen };
    const isIt = isDeliberate(times, performance.now(), { is_repeat });
    setTooSoon(!isIt);
    return isIt;
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isOver(props.shown)) return;
    // A held key must not press a button repeatedly.
    if (event.repeat && (event.key === "Enter" || event.key === " ") && !isTyping(event)) {
      event.preventDefault();
      return;
    }
    // The second key of `g s` is no answer.
    if (isTyping(event) || isSequenceBegun(event.timeStamp)) return;
    const action = keyAction(event.key, question, card.current);
    if (action === undefined || isSending) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isMeant({ focused_at: focused_at.current }, event.repeat)) return;
    if (action === "reason") card.current?.querySelector<HTMLElement>(".reason")?.focus();
    else props.onAnswer(action);
  }

  if (isOver(props.shown)) {
    const hadFocus = card.current?.contains(document.activeElement) === true;
    return <SettledQuestion question={question} state={state} takesFocus={hadFocus} />;
  }
  const parts: QuestionParts = {
    is_sending: isSending,
    problem: state.is === "waiting" ? state.problem : undefined,
    onClick: (answer) => {
      if (!isSending && isMeant({}, false)) props.onAnswer(answer);
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
        if (!(from instanceof Node) || card.current?.contains(from) !== true) {
          focused_at.current = performance.now();
        }
      }}
    >
      {question.kind === "permission" ? (
        <PermissionQuestion question={question} {...parts} />
      ) : (
        <ElicitationQuestion question={question} {...parts} />
      )}
      {isTooSoon && (
        <p role="status">
          That was too soon after the question appeared or moved. Answer again to confirm.
        </p>
      )}
    </article>
  );
}

function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}

function keyAction(
  key: string,
  question: Question,
  card: HTMLElement | null,
): AnswerGiven | "reason" | undefined {
  if (question.kind === "permission" && key === "r") return "reason";
  const reason = card?.querySelector<HTMLInputElement>(".reason")?.value ?? "";
  const choices =
    question.kind === "permission" ? permissionChoices(question.request, reason) : [DECLINE];
  return choices.find((choice) => choice.key === key)?.answer;
}
