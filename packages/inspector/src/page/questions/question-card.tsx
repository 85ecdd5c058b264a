// One question: what is asked, the answers, and after that what became of it.

import { visibleLine } from "@soong/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { isSequenceBegun } from "../app/keys.ts";
import { spacedText } from "../parts/text.tsx";
import { clockText } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { isDeliberate, useLastMoved } from "./answer-guard.ts";
import { ElicitationQuestion } from "./elicitation-question.tsx";
import { PermissionQuestion } from "./permission-question.tsx";
import { DECLINE, permissionChoices, type QuestionParts } from "./question-parts.tsx";
import { answerText, isOver, type QuestionState, type ShownQuestion } from "./shown-questions.ts";

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
  const problem = state.is === "waiting" ? state.problem : undefined;
  const hasFailed = problem !== undefined;
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
    if (event.target instanceof Element && event.target.matches("input, textarea, select")) return;
    // A held key must not press a button repeatedly.
    if (event.repeat && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      return;
    }
    // The second key of `g s` is no answer.
    if (isSequenceBegun(event.timeStamp)) return;
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
    problem,
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

function keyAction(
  key: string,
  question: Question,
  card: HTMLElement | null,
): AnswerGiven | "reason" | undefined {
  const isPermission = question.kind === "permission";
  if (isPermission && key === "r") return "reason";
  const reason = card?.querySelector<HTMLInputElement>(".reason")?.value ?? "";
  const choices = isPermission ? permissionChoices(question.request, reason) : [DECLINE];
  return choices.find((choice) => choice.key === key)?.answer;
}

/** What became of a question that was on the page. */
function SettledQuestion(props: {
  question: Question;
  state: QuestionState;
  /** The focus was on the question: it stays in its place. */
  takesFocus: boolean;
}) {
  const { question, state } = props;
  const card = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (props.takesFocus) card.current?.focus({ preventScroll: true });
  }, []);
  const { tool_name } = question.request;
  return (
    <article
      ref={card}
      class="question card settled"
      tabIndex={-1}
      aria-label={`${tool_name}, over`}
    >
      <p>
        <strong class="mono">{visibleLine(tool_name)}</strong>{" "}
        <span role="status">
          {state.is === "answered" && `✓ You answered: ${answerText(state.answer)}.`}
          {(state.is === "settled_elsewhere" || state.is === "gone") && (
            <AnsweredElsewhere question={question} state={state} />
          )}
        </span>{" "}
        <a href={linkToTimeline({ session_id: question.session_id, ...question.request })}>
          See the call
        </a>
      </p>
    </article>
  );
}

const LOOK_AGAIN_MS = [500, 2000];

/** Who answered is in the journal, maybe a moment later. */
function AnsweredElsewhere(props: {
  question: Question;
  state: Extract<QuestionState, { is: "settled_elsewhere" | "gone" }>;
}) {
  const { session_id, pid, kind, request } = props.question;
  const { is, message } = props.state;
  const run_id = kind === "permission" ? request.run_id : undefined;
  const [looked, setLooked] = useState(0);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/calls/:tool_call_id",
    { path: { session_id, tool_call_id: request.tool_call_id }, query: { run_id } },
    { version: looked, isPaused: message !== undefined },
  );
  const decided = loaded.value?.decisions.findLast(
    ({ by, answered_by }) => by === "user" && answered_by !== undefined,
  );
  const isKnown = message !== undefined || decided !== undefined;
  useEffect(() => {
    const pause = LOOK_AGAIN_MS[looked];
    if (isKnown || pause === undefined) return;
    const timer = setTimeout(() => setLooked(looked + 1), pause);
    return () => clearTimeout(timer);
  }, [looked, isKnown]);
  if (message !== undefined) return <>{visibleLine(message)}</>;
  if (decided === undefined) {
    return is === "gone" ? (
      <>The runtime that asked (process {pid}) has ended: the answer is no longer needed.</>
    ) : (
      <>It was answered elsewhere, or its call ended.</>
    );
  }
  const reason = decided.reason === undefined ? "" : `: ${visibleLine(decided.reason)}`;
  return (
    <>
      {visibleLine(decided.answered_by ?? "")} answered first, at {clockText(decided.at)}:{" "}
      {spacedText(decided.decision)}
      {reason}.
    </>
  );
}
