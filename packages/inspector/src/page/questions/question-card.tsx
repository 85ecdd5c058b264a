// One question: what is asked, the answers, and after that what became of it.

import { useEffect, useRef } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/index.ts";
import { isDeliberate } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import type { QuestionParts } from "./question-parts.ts";
import { SettledQuestion } from "./settled-question.tsx";
import { isOver, type ShownQuestion } from "./shown-questions.ts";

export function QuestionCard(props: {
  shown: ShownQuestion;
  /** When anything on the list last moved. */
  changed_at: number;
  onAnswer: (answer: AnswerGiven) => void;
}) {
  const { question, state } = props.shown;
  const card = useRef<HTMLElement>(null);
  const focused_at = useRef<number | undefined>(undefined);
  const shown_at = useRef(Date.now());
  shown_at.current = Math.max(shown_at.current, props.changed_at);
  useEffect(() => {
    shown_at.current = Date.now();
  }, []);

  function give(answer: AnswerGiven): void {
    if (isDeliberate({ shown_at: shown_at.current }, Date.now(), { is_repeat: false })) {
      props.onAnswer(answer);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isOver(props.shown)) return;
    // A held key must not press a button by itself.
    if (event.repeat && (event.key === "Enter" || event.key === " ") && !isTyping(event)) {
      event.preventDefault();
      return;
    }
    if (isTyping(event)) return;
    const action = keyAction(event.key, question, card.current);
    if (action === undefined || state.is === "sending") return;
    event.preventDefault();
    event.stopPropagation();
    const seen = {
      shown_at: shown_at.current,
      ...(focused_at.current === undefined ? {} : { focused_at: focused_at.current }),
    };
    if (!isDeliberate(seen, Date.now(), { is_repeat: event.repeat })) return;
    if (action === "reason") card.current?.querySelector<HTMLElement>(".reason")?.focus();
    else props.onAnswer(action);
  }

  if (isOver(props.shown)) return <SettledQuestion question={question} state={state} />;
  const parts: QuestionParts = {
    is_sending: state.is === "sending",
    problem: state.is === "waiting" ? state.problem : undefined,
    onClick: give,
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
          focused_at.current = Date.now();
        }
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
  if (question.kind === "elicitation") return key === "n" ? { action: "decline" } : undefined;
  const reason = card?.querySelector<HTMLInputElement>(".reason")?.value.trim() ?? "";
  const why = reason === "" ? {} : { reason };
  switch (key) {
    case "y":
      return { decision: "allow_once", ...why };
    case "s":
      return question.request.scopes.length === 0
        ? undefined
        : { decision: "allow_for_session", ...why };
    case "n":
      return { decision: "deny", ...why };
    case "r":
      return "reason";
    default:
      return undefined;
  }
}
