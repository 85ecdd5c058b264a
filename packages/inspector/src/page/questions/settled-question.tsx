// What became of a question that was on the page.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../../wire/index.ts";
import { useAnswer } from "../api/use-answer.ts";
import { clockText } from "../parts/time-text.ts";
import { visibleLine } from "@soong/core";
import { timelineHash } from "../route/hash-route.ts";
import type { QuestionState } from "./shown-questions.ts";
import { answerText } from "./use-shown-questions.ts";

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
  const { session_id } = question;
  const { tool_name, tool_call_id } = question.request;
  const run = question.kind === "permission" ? { run_id: question.request.run_id } : {};
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
          <Outcome question={question} state={state} />
        </span>{" "}
        <a href={timelineHash({ session_id, tool_call_id, ...run })}>See the call</a>
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
      return (
        <AnsweredElsewhere
          question={question}
          message={state.message}
          otherwise="It was answered elsewhere, or its call ended."
        />
      );
    case "gone":
      return (
        <AnsweredElsewhere
          question={question}
          message={state.message}
          otherwise={`The runtime that asked (process ${question.pid}) has ended: the answer is no longer needed.`}
        />
      );
    case "waiting":
    case "sending":
      return null;
  }
}

const LOOK_AGAIN_MS = [500, 2000];

/** Who answered is in the journal, maybe a moment later. */
function AnsweredElsewhere(props: {
  question: Question;
  message: string | undefined;
  otherwise: string;
}) {
  const { question, message } = props;
  const { session_id } = question;
  const { tool_call_id } = question.request;
  const run_id = question.kind === "permission" ? question.request.run_id : undefined;
  const [looked, setLooked] = useState(0);
  const loaded = useAnswer(
    "GET /api/sessions/:session_id/calls/:tool_call_id",
    { path: { session_id, tool_call_id }, query: { run_id } },
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
  if (decided === undefined) return <>{visibleLine(props.otherwise)}</>;
  const reason = decided.reason === undefined ? "" : `: ${visibleLine(decided.reason)}`;
  return (
    <>
      {visibleLine(decided.answered_by ?? "")} answered first, at {clockText(decided.at)}:{" "}
      {visibleLine(decided.decision.replaceAll("_", " "))}
      {reason}.
    </>
  );
}
