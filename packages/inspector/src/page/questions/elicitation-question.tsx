// What a tool or a server wants to know from a person: a form made from its schema, or an address to go to.

import { visibleLine, type JsonObject, type JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/core/internal";
import { useState } from "preact/hooks";
import type { Question } from "../../wire/index.ts";
import { CutText } from "../parts/cut-text.tsx";
import { ProblemText } from "../parts/loading.tsx";
import { hashOf } from "../route/hash-route.ts";
import { SchemaForm } from "../playground/schema-form.tsx";
import { problemsOf, startValue } from "../playground/value.ts";
import { shownAddress } from "./address.ts";
import type { QuestionParts } from "./question-parts.ts";
import { WaitingSince } from "./waiting-since.tsx";

type Props = QuestionParts & { question: Extract<Question, { kind: "elicitation" }> };

export function ElicitationQuestion(props: Props) {
  const { question } = props;
  const { request, session_id } = question;
  const { tool_name, tool_call_id } = request;
  return (
    <>
      <header class="question-head">
        <h3>
          <span class="mono">{visibleLine(tool_name)}</span> wants to know
        </h3>
        <p>
          <WaitingSince asked_at={question.asked_at} />{" "}
          <a href={hashOf({ view: "session", session_id, tab: "timeline", tool_call_id })}>
            See the call
          </a>
        </p>
        <p class="prose">
          <CutText text={request.message} />
        </p>
      </header>
      {request.mode === "form" ? (
        <FormAnswer schema={request.requested_schema} {...props} />
      ) : (
        <AddressAnswer url={request.url} {...props} />
      )}
      {props.is_sending && <p role="status">Sending your answer…</p>}
      {props.problem !== undefined && <ProblemText text={props.problem} />}
      <p class="quiet">
        in <span class="mono">{visibleLine(question.project)}</span>, process {question.pid}. What
        you write goes to {visibleLine(tool_name)}.
      </p>
    </>
  );
}

function FormAnswer(props: Props & { schema: JsonObject }) {
  const { schema } = props;
  const [value, setValue] = useState<JsonValue | undefined>(() => filled(schema));
  const [isChecked, setChecked] = useState(false);
  const problems = problemsOf(schema, schema, value ?? {});
  return (
    <form
      class="schema-form"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (problems.length === 0 && isJsonObject(value)) {
          props.onClick({ action: "accept", content: value });
        }
      }}
    >
      <SchemaForm
        schema={schema}
        value={value}
        onChange={setValue}
        says_missing={isChecked}
        offers_extras={false}
      />
      {isChecked && problems.length > 0 && (
        <ProblemText
          text={`Not sent yet: ${problems.map(({ at, text }) => `${at.slice(1)} ${text}`).join("; ")}.`}
        />
      )}
      <Buttons {...props} accept={{ type: "submit" }} />
    </form>
  );
}

/** Defaults are filled in also where a value may be left out: the person sees what is suggested. */
function filled(schema: JsonObject): JsonValue | undefined {
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
      <Buttons
        {...props}
        accept={{ type: "button", onClick: () => props.onClick({ action: "accept" }) }}
      />
    </>
  );
}

function Buttons(
  props: Props & { accept: { type: "submit" } | { type: "button"; onClick: () => void } },
) {
  const { is_sending, onClick } = props;
  return (
    <div class="answers" role="group" aria-label="Your answer">
      <div class="answer">
        <button class="button primary" aria-disabled={is_sending} {...props.accept}>
          Accept
        </button>
        <span>Your answer is given to the tool.</span>
      </div>
      <div class="answer">
        <button
          type="button"
          class="button"
          aria-disabled={is_sending}
          aria-keyshortcuts="n"
          onClick={() => onClick({ action: "decline" })}
        >
          Decline <kbd>n</kbd>
        </button>
        <span>The tool is told that you do not want to answer.</span>
      </div>
      <div class="answer">
        <button
          type="button"
          class="button"
          aria-disabled={is_sending}
          onClick={() => onClick({ action: "cancel" })}
        >
          Cancel
        </button>
        <span>The tool is told that you did not choose.</span>
      </div>
    </div>
  );
}
