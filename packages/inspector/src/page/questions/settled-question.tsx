// What became of a question that was on the page, in a line.

import { visibleLine } from "@soong/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../../wire/home-records.ts";
import { useAnswer } from "../api/use-answer.ts";
import { spacedText } from "../parts/text.tsx";
import { clockText } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { answerText, type QuestionState } from "./shown-questions.ts";

export function SettledQuestion(props: {
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
    <article ref={card} class="question settled" tabIndex={-1} aria-label={`${tool_name}, over`}>
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
