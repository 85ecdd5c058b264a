// The answers to a permission question, as at the terminal: yes once, yes for the session with what that covers, always with the
// rule that would be written, no with the reason. What covers more than this call is chosen in a second step.

import { visibleLine, type PermissionRequest } from "@soong/core";
import { exactText } from "@soong/core/internal";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AlwaysOffer, AnswerGiven } from "../../wire/home-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Button, focusOnce } from "../parts/button.tsx";
import { TextInput } from "../parts/input.tsx";
import {
  AnswerButton,
  Answers,
  KeyHint,
  useSessionRow,
  type QuestionParts,
} from "./question-parts.tsx";

type Props = QuestionParts & {
  request: PermissionRequest;
  always?: readonly AlwaysOffer[] | undefined;
};

export function PermissionAnswers(props: Props) {
  const { request, always = [] } = props;
  const { scope_choices: choices = [] } = request;
  const [step, setStep] = useState<"answers" | "session" | "always">("answers");
  const [reason, setReason] = useState("");
  const place = useRef<HTMLDivElement>(null);
  const why = reason.trim() === "" ? {} : { reason: reason.trim() };
  const give: Props["give"] = (answer, by) => props.give({ ...answer, ...why }, by);
  const isAsked = step === "answers";
  const back = () => {
    setStep("answers");
    place.current?.closest<HTMLElement>(".question")?.focus();
  };
  const open = (next: "session" | "always") => () => setStep(next);
  if (isAsked) props.keys.current = answerKeys();

  function answerKeys(): Record<string, () => void> {
    return {
      y: () => give(ONCE, "key"),
      n: () => give(NO, "key"),
      r: () => place.current?.querySelector<HTMLElement>(".reason")?.focus(),
      ...(request.scopes.length === 0
        ? {}
        : { s: choices.length > 1 ? open("session") : () => give(SESSION, "key") }),
      ...(always.length === 0 ? {} : { w: open("always") }),
    };
  }

  return (
    <Answers {...props}>
      <div class="answer-step" ref={place}>
        {isAsked && (
          <FirstStep {...props} give={give} onOpen={setStep}>
            {{ reason, setReason }}
          </FirstStep>
        )}
        {step === "session" && <SessionStep {...props} give={give} onBack={back} />}
        {step === "always" && <AlwaysStep {...props} give={give} onBack={back} offers={always} />}
      </div>
    </Answers>
  );
}

const ONCE = { decision: "allow_once" } as const;
const SESSION = { decision: "allow_for_session" } as const;
const NO = { decision: "deny" } as const;

function FirstStep(
  props: Props & {
    onOpen: (step: "session" | "always") => void;
    children: { reason: string; setReason: (text: string) => void };
  },
) {
  const { request, always = [], is_sending, waiting } = props;
  const { scopes, session_scope, suggested_decision, scope_choices: choices = [] } = request;
  const { reason, setReason } = props.children;
  return (
    <>
      <div class="answer-row">
        <AnswerButton
          {...props}
          name="Allow once"
          keyName="y"
          answer={ONCE}
          look={suggested_decision === "allow_once" ? "primary" : undefined}
        />
        {scopes.length > 0 &&
          (choices.length > 1 ? (
            <Button aria-keyshortcuts="s" onClick={() => props.onOpen("session")}>
              For the session… <KeyHint keyName="s" waiting={waiting} />
            </Button>
          ) : (
            <AnswerButton {...props} name="For the session" keyName="s" answer={SESSION} />
          ))}
        {always.length > 0 && (
          <Button aria-keyshortcuts="w" onClick={() => props.onOpen("always")}>
            Always… <KeyHint keyName="w" waiting={waiting} />
          </Button>
        )}
        <AnswerButton {...props} name="Deny" keyName="n" answer={NO} look="danger" />
      </div>
      {choices.length <= 1 && (
        <p class="covers quiet" tabIndex={0}>
          {visibleLine(session_scope)}
        </p>
      )}
      <label class="reason-field">
        <span>
          Reason <KeyHint keyName="r" waiting={waiting} />
        </span>
        <TextInput
          class="reason"
          autocomplete="off"
          placeholder="optional; the model reads it"
          value={reason}
          readOnly={is_sending}
          onText={setReason}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            event.currentTarget.closest<HTMLElement>(".question")?.focus();
          }}
        />
      </label>
    </>
  );
}

const SCOPES = {
  exact: { name: "Exactly this command", keyName: "e" },
  prefix: { name: "All that start so", keyName: "s" },
  program: { name: "Any arguments", keyName: "a" },
} as const;

function SessionStep(props: Props & { onBack: () => void }) {
  const { scope_choices: choices = [] } = props.request;
  const answers = choices.map(({ id, session_scope }, index) => ({
    ...SCOPES[id],
    covers: session_scope,
    // The first one is what a yes for the session covers by default.
    answer: { ...SESSION, ...(index === 0 ? {} : { scope: id }) } satisfies AnswerGiven,
  }));
  props.keys.current = {
    ...Object.fromEntries(
      answers.map(({ keyName, answer }) => [keyName, () => props.give(answer, "key")]),
    ),
    ...backKeys(props.onBack),
  };
  return (
    <>
      <p class="step-name" tabIndex={-1} ref={focusOnce}>
        Allow for this session:
      </p>
      {answers.map(({ name, keyName, covers, answer }) => (
        <div key={name} class="answer">
          <AnswerButton {...props} name={name} keyName={keyName} answer={answer} />
          <span>{visibleLine(covers)}</span>
        </div>
      ))}
      <BackButton {...props} />
    </>
  );
}

/** A last `**` in the rule's argv. */
const COVERS_REST = /^argv = .*"\*\*"\]$/m;

function AlwaysStep(props: Props & { offers: readonly AlwaysOffer[]; onBack: () => void }) {
  const { offers, waiting } = props;
  const { home } = useInspector().about;
  const host = useSessionRow(props.request.session_id)?.live?.host;
  const [chosen, choose] = useState(0);
  const [where, setWhere] = useState<"project" | "everywhere">("project");
  const add = useRef<HTMLDivElement>(null);
  const offer = offers[chosen] ?? offers[0];
  useEffect(() => add.current?.querySelector("button")?.focus(), []);
  if (offer === undefined) return null;
  const text = offer[where];
  props.keys.current = {
    p: () => setWhere("project"),
    e: () => setWhere("everywhere"),
    ...backKeys(props.onBack),
  };
  const answer: AnswerGiven = {
    ...SESSION,
    ...(offer.scope === undefined ? {} : { scope: offer.scope }),
    always: { where },
  };
  return (
    <>
      {offers.length > 1 && (
        <fieldset class="choice">
          <legend>Always allow</legend>
          {offers.map(({ scope = "exact" }, index) => (
            <Choice
              key={scope}
              group="what"
              name={SCOPES[scope].name.toLowerCase()}
              isChosen={index === chosen}
              onChoose={() => choose(index)}
            />
          ))}
        </fieldset>
      )}
      <fieldset class="choice">
        <legend>{offers.length > 1 ? "Kept for" : "Always allow"}</legend>
        <Choice
          group="where"
          name="this project"
          isChosen={where === "project"}
          onChoose={() => setWhere("project")}
        >
          <KeyHint keyName="p" waiting={waiting} />
        </Choice>
        <Choice
          group="where"
          name="every project"
          isChosen={where === "everywhere"}
          onChoose={() => setWhere("everywhere")}
        >
          <KeyHint keyName="e" waiting={waiting} />
        </Choice>
      </fieldset>
      <pre class="code rule" aria-label="The rule" tabIndex={0}>
        {exactText(text)}
      </pre>
      <p class="quiet">
        {host === undefined ? (
          <>
            Added to your own <span class="mono">{visibleLine(`${home}/config.toml`)}</span>
          </>
        ) : (
          <>
            Added to your own config on <span class="mono">{visibleLine(host)}</span>
          </>
        )}
        ; nothing in the project changes.
        {COVERS_REST.test(text) && ' The last "**" covers any further arguments, also options.'}
      </p>
      <div class="answer-row" ref={add}>
        <AnswerButton {...props} name="Add this rule" answer={answer} look="primary" />
        <BackButton {...props} />
      </div>
    </>
  );
}

function Choice(props: {
  group: string;
  name: string;
  isChosen: boolean;
  onChoose: () => void;
  children?: ComponentChildren;
}) {
  return (
    <label>
      <input
        type="radio"
        name={props.group}
        checked={props.isChosen}
        onChange={() => props.onChoose()}
      />{" "}
      {props.name} {props.children}
    </label>
  );
}

function BackButton(props: QuestionParts & { onBack: () => void }) {
  return (
    <Button aria-keyshortcuts="b" onClick={props.onBack}>
      Back <KeyHint keyName="b" waiting={props.waiting} />
    </Button>
  );
}

function backKeys(onBack: () => void) {
  return { b: onBack, Escape: onBack };
}
