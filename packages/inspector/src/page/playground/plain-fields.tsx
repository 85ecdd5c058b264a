// Inputs for values without parts.

import type { JsonValue } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "@soong/core";
import { describedBy } from "./field-frame.tsx";
import type { Option, TextInput } from "./field.ts";
import { equal } from "./schema.ts";
import { numberOrText } from "./value.ts";

type Change = (value: JsonValue | undefined) => void;

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
      <option value="-1">(left out)</option>
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
