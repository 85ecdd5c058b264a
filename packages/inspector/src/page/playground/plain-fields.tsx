// The frame around every field (its name, what it is for, its limits, what is wrong with it), and the inputs for values
// without parts.

import { type JsonValue, visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { LinkButton } from "../parts/button.tsx";
import { CutText } from "../parts/text.tsx";
import type { Field, Option, TextInput } from "./field.ts";
import { equal } from "./schema.ts";
import { numberOrText, parseJsonText } from "./value.ts";

export type Change = (value: JsonValue | undefined) => void;

/** Those of several inputs: a label is for one. */
const GROUPS: ReadonlySet<Field["kind"]> = new Set(["object", "list", "choices", "fixed"]);

const LONGEST_DEFAULT = 200;

/** The ids of what is said about the input with this id. */
export function describedBy(id: string): string {
  return `${id}-words ${id}-problem`;
}

export function FieldFrame(props: {
  name: string;
  field: Field;
  is_required: boolean;
  is_omitted: boolean;
  problem: string | undefined;
  onOmit: (() => void) | undefined;
  onAdd?: () => void;
  children: (id: string) => ComponentChildren;
}) {
  const { field, name } = props;
  const id = useId();
  const hints = [
    ...field.limits,
    ...(field.default === undefined
      ? []
      : [`default ${JSON.stringify(field.default).slice(0, LONGEST_DEFAULT)}`]),
  ];
  const label = (
    <>
      {visibleLine(field.title ?? name)}
      {field.title !== undefined && field.title !== name && (
        <span class="quiet mono"> {visibleLine(name)}</span>
      )}
    </>
  );
  const isGroup = GROUPS.has(field.kind);
  return (
    <div
      class={`form-field kind-${field.kind}`}
      {...(isGroup ? { role: "group", "aria-labelledby": `${id}-name` } : {})}
    >
      <div class="form-field-head">
        {isGroup ? (
          <span id={`${id}-name`} class="form-field-name">
            {label}
          </span>
        ) : (
          <label for={id} class="form-field-name">
            {label}
          </label>
        )}
        {props.is_required ? (
          <span class="chip">required</span>
        ) : (
          props.is_omitted && <span class="quiet">omitted</span>
        )}
        {!props.is_omitted && props.onOmit !== undefined && (
          <LinkButton aria-label={`Omit ${name}`} onClick={props.onOmit}>
            Omit
          </LinkButton>
        )}
        {props.onAdd !== undefined && (
          <LinkButton aria-label={`Add ${name}`} onClick={props.onAdd}>
            Add
          </LinkButton>
        )}
      </div>
      <div id={`${id}-words`}>
        {field.description !== undefined && (
          <p class="quiet form-field-words">
            <CutText text={field.description} />
          </p>
        )}
        {hints.length > 0 && <p class="quiet form-field-words">{visibleLine(hints.join(", "))}</p>}
      </div>
      {props.children(id)}
      {props.problem !== undefined && (
        <p class="form-field-problem" id={`${id}-problem`}>
          <span aria-hidden="true">⚠ </span>
          {visibleLine(name)} {visibleLine(props.problem)}
        </p>
      )}
    </div>
  );
}

const PLACEHOLDERS: Partial<Record<TextInput, string>> = {
  date: "YYYY-MM-DD",
  time: "hh:mm:ss",
  datetime: "YYYY-MM-DDThh:mm:ssZ",
  email: "name@example.org",
  url: "https://…",
};
const MOST_ROWS = 12;

export function TextField(props: {
  id: string;
  input: TextInput;
  value: string | undefined;
  onChange: Change;
}) {
  const { id, input, value = "" } = props;
  if (input === "lines") {
    const rows = Math.min(MOST_ROWS, value.slice(0, 10_000).split("\n").length);
    return (
      <textarea
        id={id}
        aria-describedby={describedBy(id)}
        rows={rows}
        spellcheck={false}
        value={value}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <input
      id={id}
      aria-describedby={describedBy(id)}
      type="text"
      spellcheck={false}
      autocomplete="off"
      inputMode={input === "email" || input === "url" ? input : "text"}
      placeholder={PLACEHOLDERS[input] ?? ""}
      value={value}
      onInput={(event) => props.onChange(event.currentTarget.value)}
    />
  );
}

/** What is typed stays as it is typed: `1.` is on the way to a number. */
export function NumberInput(props: { id: string; value: JsonValue | undefined; onChange: Change }) {
  const [text, setText] = useState(() => numberText(props.value));
  useEffect(() => {
    if (!equal(numberOrText(text), props.value)) setText(numberText(props.value));
  }, [props.value]);
  return (
    <input
      id={props.id}
      aria-describedby={describedBy(props.id)}
      type="text"
      inputMode="decimal"
      autocomplete="off"
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        props.onChange(numberOrText(event.currentTarget.value));
      }}
    />
  );
}

function numberText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function YesNo(props: { id: string; value: JsonValue | undefined; onChange: Change }) {
  const options = [
    { value: true, label: "true" },
    { value: false, label: "false" },
  ];
  return <OneOf {...props} options={options} />;
}

/** A value that cannot be chosen is shown, and stays until another one is. */
export function OneOf(props: {
  id: string;
  options: readonly Option[];
  value: JsonValue | undefined;
  onChange: Change;
}) {
  const { options, value } = props;
  const at = value === undefined ? -1 : options.findIndex((option) => equal(option.value, value));
  return (
    <select
      id={props.id}
      aria-describedby={describedBy(props.id)}
      value={value !== undefined && at === -1 ? "other" : String(at)}
      onChange={(event) => props.onChange(options[Number(event.currentTarget.value)]?.value)}
    >
      <option value="-1">(omitted)</option>
      {options.map(({ label }, index) => (
        <option key={index} value={String(index)}>
          {visibleLine(label)}
        </option>
      ))}
      {value !== undefined && at === -1 && (
        <option value="other" disabled>
          {visibleLine(JSON.stringify(value).slice(0, 100))}
        </option>
      )}
    </select>
  );
}

export function Choices(props: {
  options: readonly Option[];
  value: readonly JsonValue[];
  onChange: Change;
}) {
  const { options, value } = props;
  const others = value.filter((one) => !options.some((option) => equal(option.value, one)));
  const rows = [
    ...options,
    ...others.map((one) => ({ value: one, label: JSON.stringify(one).slice(0, 100) })),
  ];
  return (
    <ul class="choices">
      {rows.map((row, index) => (
        <li key={index}>
          <label>
            <input
              type="checkbox"
              checked={value.some((one) => equal(one, row.value))}
              onChange={(event) =>
                props.onChange(
                  event.currentTarget.checked
                    ? [...value, row.value]
                    : value.filter((one) => !equal(one, row.value)),
                )
              }
            />{" "}
            {visibleLine(row.label)}
          </label>
        </li>
      ))}
    </ul>
  );
}

export function FixedValue(props: { value: JsonValue; given: JsonValue | undefined }) {
  const shown = props.given ?? props.value;
  return <code>{visibleLine(JSON.stringify(shown).slice(0, 500))}</code>;
}

const MOST_RAW_ROWS = 24;

/** A part of the input as JSON. What is not JSON is taken as the text it is, and says so: nothing typed is dropped. */
export function RawField(props: { id: string; value: JsonValue | undefined; onChange: Change }) {
  const [text, setText] = useState(() => jsonText(props.value));
  useEffect(() => {
    if (!equal(valueOfText(text), props.value)) setText(jsonText(props.value));
  }, [props.value]);
  const parsed = parseJsonText(text);
  return (
    <>
      <textarea
        id={props.id}
        aria-describedby={describedBy(props.id)}
        class="mono raw"
        rows={Math.min(MOST_RAW_ROWS, Math.max(2, text.slice(0, 10_000).split("\n").length))}
        spellcheck={false}
        value={text}
        aria-invalid={!parsed.ok}
        onInput={(event) => {
          setText(event.currentTarget.value);
          props.onChange(valueOfText(event.currentTarget.value));
        }}
      />
      {!parsed.ok && (
        <p class="form-field-problem">
          <span aria-hidden="true">⚠ </span>
          {parsed.problem}. It would be sent as a text.
        </p>
      )}
    </>
  );
}

function valueOfText(text: string): JsonValue | undefined {
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : text;
}

/** A text that is not JSON is shown as it was typed: it would be read the same way again. */
function jsonText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string" && !parseJsonText(value).ok) return value;
  return JSON.stringify(value, null, 2);
}
