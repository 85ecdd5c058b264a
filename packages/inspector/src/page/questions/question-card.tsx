// One question: what is asked, the answers, and after that what became of it.

import { useEffect, useRef } from "preact/hooks";
import type { AnswerGiven, CallStory, Question } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { clockText } from "../parts/time-text.ts";
import { visibleLine } from "../parts/visible.ts";
import { hashOf } from "../route/hash-route.ts";
import { isDeliberate } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import { isOver, type QuestionState, type ShownQuestion } from "./shown-questions.ts";
import { answerText } from "./use-shown-questions.ts";

export interface QuestionParts {
  is_sending: boolean;
  problem: string | undefined;
  /** Gives the answer if it was meant: see answer-guard. */
  onClick: (answer: AnswerGiven) => void;
}

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

  if (isOver(props.shown)) return <Settled question={question} state={state} />;
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

function Settled(props: { question: Question; state: QuestionState }) {
  const { question, state } = props;
  const { session_id } = question;
  const { tool_name, tool_call_id } = question.request;
  const run = question.kind === "permission" ? { run_id: question.request.run_id } : {};
  return (
    <article class="question card settled" aria-label={`${tool_name}, over`}>
      <p>
        <strong class="mono">{visibleLine(tool_name)}</strong>{" "}
        <span role="status">
          <Outcome question={question} state={state} />
        </span>{" "}
        <a href={hashOf({ view: "session", session_id, tab: "timeline", tool_call_id, ...run })}>
          See the call
        </a>
      </p>
    </article>
  );
}

function Outcome(props: { question: Question; state: QuestionState }) {
  const { question, state } = props;
  switch (state.is) {
    case "answered":
      return <>✓ You answered: {answerText(state.answer)}.</>;
    case "settled_elsewhere":
      return state.message === undefined ? (
        <SettledElsewhere question={question} />
      ) : (
        <>{visibleLine(state.message)}</>
      );
    case "gone":
      return (
        <>
          {visibleLine(
            state.message ??
              `The runtime that asked (process ${question.pid}) has ended: nobody waits for the answer any more.`,
          )}
        </>
      );
    case "waiting":
    case "sending":
      return null;
  }
}

/** Who it was stands in the journal. */
function SettledElsewhere(props: { question: Question }) {
  const { api } = useInspector();
  const { session_id, request } = props.question;
  const { tool_call_id } = request;
  const run_id = props.question.kind === "permission" ? props.question.request.run_id : undefined;
  const loaded = useLoaded<CallStory>(
    (signal) =>
      api.ask("GET /api/sessions/:session_id/calls/:tool_call_id", {
        path: { session_id, tool_call_id },
        query: run_id === undefined ? {} : { run_id },
        signal,
      }),
    `${session_id} ${run_id ?? ""} ${tool_call_id}`,
  );
  const decided = loaded.value?.decisions.findLast(({ answered_by }) => answered_by !== undefined);
  if (decided === undefined) return <>It was settled elsewhere, or its call ended.</>;
  return (
    <>
      {visibleLine(decided.answered_by ?? "")} answered first, at {clockText(decided.at)}:{" "}
      {visibleLine(decided.decision.replaceAll("_", " "))}
      {decided.reason !== undefined && `: ${visibleLine(decided.reason)}`}.
    </>
  );
}
