// What the kinds of questions share: how long one waits, its answers, and what becomes of the one that is given.

import { visibleLine, type PermissionRequest } from "@soong/core";
import type { ComponentChildren } from "preact";
import type { AnswerGiven } from "../../wire/home-records.ts";
import { Button } from "../parts/button.tsx";
import { ProblemText } from "../parts/text.tsx";
import { clockText, durationText, useClock } from "../parts/time.ts";

export interface QuestionParts {
  is_sending: boolean;
  problem: string | undefined;
  /** Gives the answer if it was meant: see answer-guard. */
  onClick: (answer: AnswerGiven) => void;
}

export interface AnswerChoice {
  name: string;
  covers: string;
  /** Undefined: the button submits the form around it. */
  answer: AnswerGiven | undefined;
  key?: string;
  look?: "primary" | "danger";
}

export const DECLINE: AnswerChoice = {
  name: "Decline",
  key: "n",
  covers: "The tool receives that you do not want to answer.",
  answer: { action: "decline" },
};

export function permissionChoices(
  { scopes, session_scope, suggested_decision, scope_choices = [] }: PermissionRequest,
  reason: string,
): AnswerChoice[] {
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  const choices: AnswerChoice[] = [
    {
      name: "Allow once",
      key: "y",
      covers: "This exact call, as it is shown here, and no other.",
      answer: { decision: "allow_once", ...why },
      look: suggested_decision === "allow_once" ? "primary" : undefined,
    },
    {
      name: "Allow for the session",
      key: "s",
      covers: session_scope,
      answer: { decision: "allow_for_session", ...why },
    },
    // The first one is what a yes for the session covers by default.
    ...scope_choices.slice(1).map(({ id, session_scope: covers }) => ({
      name: SCOPE_NAMES[id],
      covers,
      answer: { decision: "allow_for_session" as const, scope: id, ...why },
    })),
    {
      name: "Deny",
      key: "n",
      covers: "The call is not made. The model receives your reason.",
      answer: { decision: "deny", ...why },
      look: "danger",
    },
  ];
  return choices.filter(({ key }) => key !== "s" || scopes.length > 0);
}

export const SCOPE_NAMES = {
  exact: "Session, exactly this",
  prefix: "Session, all that begin so",
  program: "Session, any arguments",
} as const;

export function Answers(
  props: QuestionParts & { choices: readonly AnswerChoice[]; children?: ComponentChildren },
) {
  const { is_sending, problem } = props;
  return (
    <div class="answers" role="group" aria-label="Your answer">
      {props.choices.map(({ name, covers, answer, key, look }) => (
        <div key={name} class="answer">
          <Button
            look={look}
            aria-disabled={is_sending}
            aria-keyshortcuts={key}
            {...(answer === undefined
              ? { type: "submit" }
              : { onClick: () => props.onClick(answer) })}
          >
            {name} {key !== undefined && <kbd>{key}</kbd>}
          </Button>
          <span>{visibleLine(covers)}</span>
        </div>
      ))}
      {props.children}
      {is_sending && <p role="status">Sending your answer…</p>}
      <ProblemText text={problem} />
    </div>
  );
}

/** Counted while it is seen. */
export function WaitingSince({ asked_at }: { asked_at: string }) {
  const now = useClock(1000);
  const asked = Date.parse(asked_at);
  if (Number.isNaN(asked)) return null;
  const whole = Math.floor(Math.max(0, now - asked) / 1000) * 1000;
  return (
    <span class="quiet" title={clockText(asked)}>
      waiting for {durationText(whole).replace(".0 s", " s")}
    </span>
  );
}
