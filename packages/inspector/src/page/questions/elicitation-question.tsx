// What a tool or a server asks for input from the user: a form made from its schema, or an address to go to.

import { visibleLine, type JsonObject, type JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { useState } from "preact/hooks";
import type { AnswerGiven, Question } from "../../wire/home-records.ts";
import { Mono, ProblemText, Prose } from "../parts/text.tsx";
import { SchemaForm } from "../playground/schema-form.tsx";
import { findProblems, startValue } from "../playground/value.ts";
import { AnswerButton, Answers, WhereAsked, type QuestionParts } from "./question-parts.tsx";

type Props = QuestionParts & { question: Extract<Question, { kind: "elicitation" }> };

export function ElicitationQuestion(props: Props) {
  const { request } = props.question;
  const { tool_name } = request;
  props.keys.current = { n: () => props.give(DECLINE, "key") };
  return (
    <>
      <header class="question-head">
        <h2>
          <Mono text={tool_name} /> asks for input
        </h2>
        <WhereAsked question={props.question} />
        <Prose text={request.message} />
      </header>
      {request.mode === "form" ? (
        <FormAnswer schema={request.requested_schema} {...props} />
      ) : (
        <AddressAnswer url={request.url} {...props} />
      )}
    </>
  );
}

const DECLINE = { action: "decline" } as const;

function FormAnswer(props: Props & { schema: JsonObject }) {
  const { schema } = props;
  const [value, setValue] = useState<JsonValue | undefined>(() => fillDefaults(schema));
  const [isChecked, setChecked] = useState(false);
  const problems = findProblems(schema, schema, value ?? {});
  const wrong = problems.map(({ at, text }) => `${at.slice(1)} ${text}`).join("; ");
  return (
    <form
      class="schema-form"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (problems.length > 0 || !isJsonObject(value)) return;
        props.give({ action: "accept", content: value }, "click");
      }}
    >
      <SchemaForm schema={schema} value={value} onChange={setValue} says_missing={isChecked} />
      <ProblemText text={isChecked && wrong !== "" ? `Not sent yet: ${wrong}.` : undefined} />
      <ToolAnswers {...props} accept={undefined} />
    </form>
  );
}

/** Defaults are filled in also where a value may be omitted: the user sees what is suggested. */
function fillDefaults(schema: JsonObject): JsonValue | undefined {
  const started = startValue(schema, schema);
  const { properties } = schema;
  if (!isJsonObject(started) || !isJsonObject(properties)) return started;
  const defaults = Object.entries(properties).flatMap(([name, own]) => {
    const value = isJsonObject(own) ? own["default"] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(defaults), ...started };
}

function AddressAnswer(props: Props & { url: string }) {
  const address = shownAddress(props.url);
  return (
    <>
      <p class="address mono">{visibleLine(props.url)}</p>
      {address.ok ? (
        <>
          <p class="address mono">
            {visibleLine(address.before)}
            <strong class="host">{visibleLine(address.host)}</strong>
            {visibleLine(address.after)}
          </p>
          <p>
            It leads to the host <strong class="mono">{visibleLine(address.host)}</strong>.{" "}
            <a href={address.href} target="_blank" rel="noreferrer noopener">
              Open in a new tab
            </a>
          </p>
        </>
      ) : (
        <p class="problem">{visibleLine(address.why)}</p>
      )}
      <ToolAnswers {...props} accept={{ action: "accept" }} />
    </>
  );
}

function ToolAnswers(props: Props & { accept: AnswerGiven | undefined }) {
  return (
    <Answers {...props}>
      <div class="answer-row">
        <AnswerButton {...props} name="Accept" answer={props.accept} look="primary" />
        <AnswerButton {...props} name="Decline" keyName="n" answer={DECLINE} />
        <AnswerButton {...props} name="Cancel" answer={{ action: "cancel" }} />
      </div>
      <p class="covers quiet">
        Accept sends it to {visibleLine(props.question.request.tool_name)}. Decline: you do not want
        to answer. Cancel: you did not choose.
      </p>
    </Answers>
  );
}

/** An address in parts, so that the host cannot hide in it, and only of kinds that a browser opens as a page. */
export function shownAddress(text: string) {
  if (!URL.canParse(text)) return { ok: false, why: "This address cannot be opened." } as const;
  const { protocol, href, host, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") {
    const why = `Addresses of type ${protocol} are not opened from here.`;
    return { ok: false, why } as const;
  }
  const login = username + (password === "" ? "" : ":…");
  const before = `${protocol}//${login === "" ? "" : `${login}@`}`;
  return { ok: true, href, before, host, after: `${pathname}${search}${hash}` } as const;
}
