// What both kinds of questions have: where it is asked, its answers, how long it has waited.

import { visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import type { AnswerGiven, Question } from "../../wire/home-records.ts";
import type { SessionRow } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Button } from "../parts/button.tsx";
import { Mono, ProblemText } from "../parts/text.tsx";
import { clockText, durationText, useClock } from "../parts/time.ts";
import { linkToTimeline } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { waitMark, type Waiting } from "./answer-guard.ts";

export interface QuestionParts {
  is_sending: boolean;
  problem: string | undefined;
  /** Gives the answer if it was meant: see answer-guard. */
  give: (answer: AnswerGiven, by: "click" | "key") => void;
  waiting: Waiting;
  /** What the keys of this question do now. Set when it is drawn. */
  keys: { current: Readonly<Record<string, () => void>> };
}

/** Of what, in which session, by which agent, on which machine, and since when. */
export function WhereAsked({ question, who }: { question: Question; who?: string }) {
  const { session_id, project, request } = question;
  const session = useSessionRow(session_id);
  const host = session?.live?.host;
  const run_id = question.kind === "permission" ? question.request.run_id : undefined;
  const { tool_call_id } = request;
  return (
    <p class="where">
      in <Mono text={project} />
      {" · "}
      <a href={linkToTimeline({ session_id, run_id, tool_call_id })}>
        {visibleLine(session?.title ?? "the session")}
        <span class="unseen">: see the call</span>
      </a>
      {who !== undefined && ` · ${who}`}
      {host !== undefined && (
        <>
          {" · on "}
          <Mono text={host} />
        </>
      )}
      {" · "}
      <WaitingSince asked_at={question.asked_at} />
    </p>
  );
}

/** Of a session that asks. */
export function useSessionRow(session_id: string): SessionRow | undefined {
  return useStore(useInspector().home, (home) =>
    home?.sessions.find((row) => row.session_id === session_id),
  );
}

export function Answers(props: QuestionParts & { children: ComponentChildren }) {
  return (
    <div class="answers" role="group" aria-label="Your answer">
      {props.children}
      {props.is_sending && <p role="status">Sending your answer…</p>}
      <ProblemText text={props.problem} />
    </div>
  );
}

/** Without an answer it submits the form around it. While it does not count yet, it fills up. */
export function AnswerButton(
  props: QuestionParts & {
    name: string;
    answer: AnswerGiven | undefined;
    keyName?: string;
    look?: "primary" | "danger" | undefined;
  },
) {
  const { waiting, answer, keyName } = props;
  return (
    <Button
      look={props.look}
      aria-disabled={props.is_sending || waiting.click}
      aria-keyshortcuts={keyName}
      {...waitMark(waiting.click, waiting)}
      {...(answer === undefined
        ? { type: "submit" }
        : { onClick: () => props.give(answer, "click") })}
    >
      {props.name} <KeyHint keyName={keyName} waiting={waiting} />
    </Button>
  );
}

export function KeyHint({ keyName, waiting }: { keyName?: string; waiting: Waiting }) {
  if (keyName === undefined) return null;
  return <kbd {...waitMark(waiting.key, waiting)}>{keyName}</kbd>;
}

/** Counted while it is seen. */
function WaitingSince({ asked_at }: { asked_at: string }) {
  const now = useClock(1000);
  const asked = Date.parse(asked_at);
  if (Number.isNaN(asked)) return null;
  const whole = Math.floor(Math.max(0, now - asked) / 1000) * 1000;
  return (
    <span class="quiet" title={clockText(asked)}>
      {whole === 0 ? "just now" : `waiting for ${durationText(whole).replace(".0 s", " s")}`}
    </span>
  );
}
