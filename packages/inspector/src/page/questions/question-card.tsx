// One question: what is asked, the answers, and after that what became of it.

import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/index.ts";
import { isSequenceBegun } from "../app/use-keys.ts";
import { isDeliberate } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import type { QuestionParts } from "./question-parts.ts";
import { SettledQuestion } from "./settled-question.tsx";
import { isOver, type ShownQuestion } from "./shown-questions.ts";
import { useLastMoved } from "./use-last-moved.ts";

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
    // Whoever answered goes on from here.
    if (hasFailed && document.activeElement === document.body) card.current?.focus();
  }, [hasFailed]);

  function give(answer: AnswerGiven): void {
    if (isSending) return;
    const isMeant = isDeliberate({ shown_at: lastMoved() }, performance.now(), {
      is_repeat: false,
    });
    setTooSoon(!isMeant);
    if (isMeant) props.onAnswer(answer);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isOver(props.shown)) return;
    // A held key must not press a button by itself.
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
    const seen = {
      shown_at: lastMoved(),
      focused_at: focused_at.current,
    };
    const isMeant = isDeliberate(seen, performance.now(), { is_repeat: event.repeat });
    setTooSoon(!isMeant);
    if (!isMeant) return;
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
          That came too soon after it appeared or moved. Once more, if you mean it.
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
