// One question at a time, of all live sessions or of one: the others by name, those that are over in a line each. Answering leads to
// the next that waits.

import { visibleLine } from "@soong/core";
import { describeQuestion } from "@soong/core/internal";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../../wire/home-records.ts";
import { useKeys } from "../app/keys.ts";
import { ConfirmButton, LinkButton, SignButton } from "../parts/button.tsx";
import { useFirst } from "../parts/list.tsx";
import { GrantList } from "./grant-list.tsx";
import { lastPart, NotifyToggle } from "./notify.tsx";
import { QuestionCard } from "./question-card.tsx";
import { SettledQuestion } from "./settled-question.tsx";
import { findCurrent, isOver, writeQuestionKey, type ShownQuestion } from "./shown-questions.ts";
import { useShownQuestions } from "./use-shown-questions.ts";

export function QuestionsView({ question_id }: { question_id?: string | undefined }) {
  return (
    <section class="view questions">
      <div class="questions-head">
        <h1>Questions</h1>
        <NotifyToggle />
      </div>
      <QuestionList empty="No questions are waiting." question_id={question_id} hasKeys />
      <h2>Grants</h2>
      <GrantList />
    </section>
  );
}

const MOST_SETTLED = 5;

export function QuestionList(props: {
  session_id?: string;
  empty?: string;
  /** The one to begin with. */
  question_id?: string | undefined;
  /** Its keys work wherever the focus is. */
  hasKeys?: boolean;
}) {
  const { shown, answer, putAway } = useShownQuestions(props.session_id);
  const list = useRef<HTMLDivElement>(null);
  const [chosen, choose] = useState<string>();
  /** Where the focus was: it stays with that question when it is over, or follows an answer to the next. */
  const held = useRef<{ key: string; isAnswered: boolean } | undefined>(undefined);
  const waiting = shown.filter((entry) => !isOver(entry));
  const settled = shown.filter(isOver).toReversed();
  const [settledFirst, moreSettled] = useFirst(settled, MOST_SETTLED, "questions");
  const current = findCurrent(shown, chosen);
  const at = current === undefined ? -1 : waiting.indexOf(current);

  const { question_id } = props;
  useEffect(() => {
    const named = shown.find(({ question }) => question.question_id === question_id);
    if (named !== undefined && !isOver(named)) choose(writeQuestionKey(named.question));
  }, [question_id, shown.some(({ question }) => question.question_id === question_id)]);

  const currentKey = current && writeQuestionKey(current.question);
  useEffect(() => {
    // What is shown stays chosen, also when it is over: then the next one is found from its place.
    if (currentKey !== undefined) choose(currentKey);
    if (held.current?.isAnswered !== true || held.current.key === currentKey) return;
    held.current = undefined;
    // Only after an answer from here: focus that moves automatically would make answers of keys meant for the page.
    (focusCard() ?? list.current?.querySelector<HTMLElement>(".settled"))?.focus();
  }, [currentKey, shown]);

  function focusCard(): HTMLElement | null | undefined {
    return list.current?.querySelector<HTMLElement>("[data-waiting=true]");
  }

  function go(step: 1 | -1): void {
    const next = waiting[(at + step + waiting.length) % waiting.length];
    if (next === undefined) return;
    choose(writeQuestionKey(next.question));
    requestAnimationFrame(() => focusCard()?.focus());
  }
  const moves = { j: () => go(1), k: () => go(-1) };

  return (
    <div
      class={waiting.length > 1 ? "question-list several" : "question-list"}
      ref={list}
      onFocusIn={() => {
        if (currentKey !== undefined) held.current = { key: currentKey, isAnswered: false };
      }}
      onFocusOut={(event) => {
        // A card that goes with the focus in it leaves no other place.
        if (event.relatedTarget !== null) held.current = undefined;
      }}
    >
      {props.hasKeys && waiting.length > 1 && <Keys actions={moves} />}
      {waiting.length === 0 && props.empty && <p class="quiet">{props.empty}</p>}
      {waiting.length > 1 && (
        <nav class="question-pager" aria-label="Questions">
          <div class="pager-line">
            <strong>
              {at + 1} of {waiting.length}
            </strong>{" "}
            <SignButton sign="‹" label="Previous question" title="Previous (k)" onClick={moves.k} />{" "}
            <SignButton sign="›" label="Next question" title="Next (j)" onClick={moves.j} />
            <DenyAll
              waiting={waiting}
              current={current}
              onDeny={async (questions) => {
                for (const question of questions) await answer(question, { decision: "deny" });
              }}
            />
          </div>
          <Names waiting={waiting} current={current} onChoose={choose} />
        </nav>
      )}
      {current !== undefined && (
        <QuestionCard
          key={currentKey}
          shown={current}
          onAnswer={(given) => {
            held.current = { key: writeQuestionKey(current.question), isAnswered: true };
            void answer(current.question, given);
          }}
        />
      )}
      {settled.length > 0 && (
        <div class="settled-list">
          {settledFirst.map(({ question, state }) => (
            <SettledQuestion
              key={writeQuestionKey(question)}
              question={question}
              state={state}
              takesFocus={
                held.current?.key === writeQuestionKey(question) && !held.current.isAnswered
              }
            />
          ))}
          {moreSettled}{" "}
          <LinkButton
            onClick={() => {
              putAway();
              document.getElementById("main")?.focus();
            }}
          >
            Clear answered questions
          </LinkButton>
        </div>
      )}
    </div>
  );
}

function Keys({ actions }: { actions: Readonly<Record<string, () => void>> }) {
  useKeys(actions);
  return null;
}

function Names(props: {
  waiting: readonly ShownQuestion[];
  current: ShownQuestion | undefined;
  onChoose: (key: string) => void;
}) {
  return (
    <ol class="question-names" tabIndex={-1}>
      {props.waiting.map(({ question }, index) => {
        const isCurrent = question === props.current?.question;
        return (
          <li key={writeQuestionKey(question)}>
            <button
              type="button"
              aria-current={isCurrent ? "true" : undefined}
              ref={isCurrent ? scrollToIt : undefined}
              onClick={() => props.onChoose(writeQuestionKey(question))}
            >
              {index + 1}. {nameQuestion(question)}
              <span class="quiet"> {lastPart(question.project)}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function scrollToIt(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}

function nameQuestion(question: Question): string {
  return question.kind === "permission"
    ? describeQuestion(question.request)
    : `${visibleLine(question.request.tool_name)} asks for input`;
}

/** For a run that wants what it should not. */
function DenyAll(props: {
  waiting: readonly ShownQuestion[];
  current: ShownQuestion | undefined;
  onDeny: (questions: readonly Question[]) => Promise<void>;
}) {
  const question = props.current?.question;
  if (question?.kind !== "permission") return null;
  const { run_id } = question.request;
  const same = props.waiting
    .map((entry) => entry.question)
    .filter((one) => one.kind === "permission" && one.request.run_id === run_id);
  if (same.length < 2) return null;
  return (
    <ConfirmButton
      key={run_id}
      name={`Deny all ${same.length} of this run…`}
      look="danger"
      question={`${same.length} calls are not made.`}
      yes="Deny them"
      focus="no"
      busy="Denying…"
      done="Denied."
      onConfirm={async () => {
        await props.onDeny(same);
        return true;
      }}
    />
  );
}
