// The frame around every field (its name, what it is for, its limits, what is wrong with it), and the inputs for values
// without parts.

import { type JsonValue, visibleLine } from "@soong/core";
import { sameJson } from "@soong/schema";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { LinkButton } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/input.tsx";
import { CutText } from "../parts/text.tsx";
import type { Field, Option, TextKind } from "./field.ts";
import { numberOrText, parseJsonText } from "./value.ts";

export type Change = (value: JsonValue | undefined) => void;

/** What every input is given; a value that is undefined is omitted. */
interface InputProps<Value = JsonValue | undefined> {
  id: string;
  value: Value;
  onChange: Change;
}

/** Those of several inputs: a label is for one. */
const GROUPS: ReadonlySet<Field["kind"]> = new Set(["object", "list", "choices", "fixed"]);

export function FieldFrame(props: {
  name: string;
  field: Field;
  is_required: boolean;
  is_omitted: boolean;
  problem: string | undefined;
  onOmit: (() => void) | undefined;
  onAdd: (() => void) | undefined;
  children: (id: string) => ComponentChildren;
}) {
  const { field, name, is_omitted, problem, onOmit, onAdd } = props;
  const { kind, title, description, limits } = field;
  const id = useId();
  const hints =
    field.default === undefined ? limits : [...limits, `default ${shortJson(field.default, 200)}`];
  const label = (
    <>
      {visibleLine(title ?? name)}
      {title !== undefined && title !== name && (
        <span class="quiet mono"> {visibleLine(name)}</span>
      )}
    </>
  );
  const isGroup = GROUPS.has(kind);
  return (
    <div
      class={`form-field kind-${kind}`}
      role={isGroup ? "group" : undefined}
      aria-labelledby={isGroup ? `${id}-name` : undefined}
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
          is_omitted && <span class="quiet">omitted</span>
        )}
        {!is_omitted && onOmit && (
          <LinkButton aria-label={`Omit ${name}`} onClick={onOmit}>
            Omit
          </LinkButton>
        )}
        {onAdd && (
          <LinkButton aria-label={`Add ${name}`} onClick={onAdd}>
            Add
          </LinkButton>
        )}
      </div>
      <div id={`${id}-words`}>
        {description !== undefined && (
          <p class="quiet form-field-words">
            <CutText text={description} />
          </p>
        )}
        {hints.length > 0 && <p class="quiet form-field-words">{visibleLine(hints.join(", "))}</p>}
      </div>
      {props.children(id)}
      {problem !== undefined && (
        <FieldProblem id={`${id}-problem`}>
          {visibleLine(name)} {visibleLine(problem)}
        </FieldProblem>
      )}
    </div>
  );
}

function FieldProblem({ id, children }: { id?: string; children: ComponentChildren }) {
  return (
    <p class="form-field-problem" id={id}>
      <span aria-hidden="true">⚠ </span>
      {children}
    </p>
  );
}

function shortJson(value: JsonValue, most: number): string {
  return visibleLine(JSON.stringify(value).slice(0, most));
}

/** The ids of what is said about the input with this id. */
function describedBy(id: string): string {
  return `${id}-words ${id}-problem`;
}

/** How many rows a text needs. */
function countRows(text: string): number {
  return text.slice(0, 10_000).split("\n").length;
}

const PLACEHOLDERS: Partial<Record<TextKind, string>> = {
  date: "YYYY-MM-DD",
  time: "hh:mm:ss",
  datetime: "YYYY-MM-DDThh:mm:ssZ",
  email: "name@example.org",
  url: "https://…",
};
const MOST_ROWS = 12;

export function TextValue(props: InputProps<string | undefined> & { input: TextKind }) {
  const { id, input, value = "", onChange } = props;
  const shared = { id, "aria-describedby": describedBy(id), spellcheck: false, value };
  if (input === "lines") {
    return (
      <textarea
        {...shared}
        rows={Math.min(MOST_ROWS, countRows(value))}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      autocomplete="off"
      inputMode={input === "email" || input === "url" ? input : "text"}
      placeholder={PLACEHOLDERS[input] ?? ""}
      onText={onChange}
    />
  );
}

/** The text of an input: as it was typed, until the value is another one than the text says. */
function useTyped(
  { value, onChange }: InputProps,
  read: (text: string) => JsonValue | undefined,
  write: (value: JsonValue | undefined) => string,
): [text: string, type: (text: string) => void] {
  const [text, setText] = useState(() => write(value));
  useEffect(() => {
    if (!sameJson(read(text), value)) setText(write(value));
  }, [value]);
  return [
    text,
    (next) => {
      setText(next);
      onChange(read(next));
    },
  ];
}

/** What is typed stays as it is typed: `1.` is on the way to a number. */
export function NumberInput(props: InputProps) {
  const [text, type] = useTyped(props, numberOrText, (value) =>
    typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
  );
  return (
    <TextInput
      id={props.id}
      aria-describedby={describedBy(props.id)}
      inputMode="decimal"
      autocomplete="off"
      value={text}
      onText={type}
    />
  );
}

export const YES_NO: readonly Option[] = [
  { value: true, label: "true" },
  { value: false, label: "false" },
];

/** A value that cannot be chosen is shown, and stays until another one is. */
export function OneOf(props: InputProps & { options: readonly Option[] }) {
  const { id, value, onChange, options } = props;
  const at = options.findIndex((option) => sameJson(option.value, value));
  const isOther = value !== undefined && at === -1;
  return (
    <Select
      id={id}
      described={describedBy(id)}
      value={isOther ? "other" : String(at)}
      options={[
        ["-1", "(omitted)"],
        ...options.map(({ label }, index) => [String(index), visibleLine(label)] as const),
      ]}
      onChoose={(index) => onChange(options[Number(index)]?.value)}
      other={isOther ? shortJson(value, 100) : undefined}
    />
  );
}

export function Choices(props: {
  options: readonly Option[];
  value: readonly JsonValue[];
  onChange: Change;
}) {
  const { options, value } = props;
  const others = value.filter((one) => !options.some((option) => sameJson(option.value, one)));
  const rows = [...options, ...others.map((one) => ({ value: one, label: shortJson(one, 100) }))];
  return (
    <ul class="choices">
      {rows.map((row, index) => (
        <li key={index}>
          <label>
            <input
              type="checkbox"
              checked={value.some((one) => sameJson(one, row.value))}
              onChange={(event) =>
                props.onChange(
                  event.currentTarget.checked
                    ? [...value, row.value]
                    : value.filter((one) => !sameJson(one, row.value)),
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

export function FixedValue({ value }: { value: JsonValue }) {
  return <code>{shortJson(value, 500)}</code>;
}

const MOST_RAW_ROWS = 24;

/** A part of the input as JSON. What is not JSON is taken as the text it is, and says so: nothing typed is dropped. */
export function RawField(props: InputProps) {
  const [text, type] = useTyped(props, valueOfText, jsonText);
  const parsed = parseJsonText(text);
  return (
    <>
      <textarea
        id={props.id}
        aria-describedby={describedBy(props.id)}
        class="mono raw"
        rows={Math.min(MOST_RAW_ROWS, Math.max(2, countRows(text)))}
        spellcheck={false}
        value={text}
        aria-invalid={!parsed.ok}
        onInput={(event) => type(event.currentTarget.value)}
      />
      {!parsed.ok && <FieldProblem>{parsed.problem}. It would be sent as a text.</FieldProblem>}
    </>
  );
}

function valueOfText(text: string): JsonValue | undefined {
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : text;
}

/** A text that is not JSON is shown as it was typed: it would be read the same way again. */
function jsonText(value: JsonValue | undefined): string {
  if (typeof value === "string" && !parseJsonText(value).ok) return value;
  return JSON.stringify(value, null, 2) ?? "";
}
