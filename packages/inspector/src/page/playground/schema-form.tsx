// A form made from a JSON Schema. The value is all the state there is: everything typed becomes part of it, also what
// the schema would refuse, so that going over to JSON and back loses nothing.

import { visibleLine, type JsonObject, type JsonValue } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import { isJsonObject } from "@soong/schema";
import { useMemo, useRef, useState } from "preact/hooks";
import { Button, LinkButton } from "../parts/button.tsx";
import { Select, TextInput } from "../parts/input.tsx";
import { useFirst } from "../parts/list.tsx";
import { findBranch, readField, type Field } from "./field.ts";
import {
  Choices,
  FieldFrame,
  FixedValue,
  NumberInput,
  OneOf,
  RawField,
  TextValue,
  YES_NO,
  type Change,
} from "./plain-fields.tsx";
import type { Schema } from "./schema.ts";
import { addedValue, findProblems } from "./value.ts";

/** What every part of a form knows. */
interface Form {
  readonly root: Schema;
  /** By JSON pointer. */
  readonly problems: ReadonlyMap<string, string>;
  readonly offers_extras: boolean;
  /** How many choices of a form are around this one: a schema may offer itself for ever. */
  readonly choices: number;
}

/** One part of it; `at` is a JSON pointer, a value that is undefined is omitted. */
interface Part<Value = JsonValue | undefined> {
  form: Form;
  value: Value;
  at: string;
  onChange: Change;
}

type FieldOf<Kind extends Field["kind"]> = { field: Extract<Field, { kind: Kind }> };

export function SchemaForm(props: {
  schema: JsonObject;
  value: JsonValue | undefined;
  onChange: Change;
  /** What is missing is reported once the user wanted to continue. */
  says_missing: boolean;
  /** Properties that the schema does not name, and does not forbid. */
  offers_extras?: boolean;
}) {
  const { schema, value, says_missing, offers_extras = false, onChange } = props;
  const problems = useMemo(() => {
    const found = findProblems(schema, schema, value ?? {});
    const said = found.filter(({ is_missing }) => says_missing || is_missing !== true);
    return new Map(said.map(({ at, text }) => [at, text]));
  }, [schema, value, says_missing]);
  const field = readField(schema, schema);
  const part = { form: { root: schema, problems, offers_extras, choices: 0 }, at: "", onChange };
  const whole = value ?? {};
  if (field.kind === "object" && isJsonObject(whole)) {
    return <ObjectField {...part} field={field} value={whole} />;
  }
  const name = field.title ?? "Value";
  return <SchemaField {...part} schema={schema} name={name} value={value} is_required />;
}

interface SchemaFieldProps extends Part {
  schema: JsonValue | undefined;
  name: string;
  is_required?: boolean;
  /** An entry of a list is removed, never omitted. */
  is_entry?: boolean;
}

function SchemaField({ schema, name, is_required = false, is_entry, ...part }: SchemaFieldProps) {
  const { form, value, at, onChange } = part;
  const field = useMemo(() => readField(form.root, schema), [form.root, schema]);
  const isOmitted = value === undefined;
  return (
    <FieldFrame
      name={name}
      field={field}
      is_required={is_required}
      is_omitted={isOmitted}
      // Of several forms, the one that is chosen reports it.
      problem={field.kind === "branches" ? undefined : form.problems.get(at)}
      onOmit={is_entry ? undefined : () => onChange(undefined)}
      onAdd={
        isOmitted && isAdded(field) ? () => onChange(addedValue(form.root, schema)) : undefined
      }
    >
      {(id) => <FieldInput {...part} id={id} field={field} />}
    </FieldFrame>
  );
}

/** Those that have nothing to type into while they are omitted. */
function isAdded({ kind }: Field): boolean {
  return kind === "object" || kind === "list" || kind === "branches" || kind === "fixed";
}

const MOST_CHOICES = 12;

function FieldInput(props: Part & { id: string; field: Field }) {
  const { id, field, value, onChange, ...place } = props;
  const part = { ...place, id, onChange };
  const raw = { id, value, onChange };
  if (value === undefined && isAdded(field)) return null;
  switch (field.kind) {
    case "object":
      if (!isJsonObject(value)) break;
      return (
        <fieldset class="nested">
          <legend class="unseen">{visibleLine(field.title ?? props.at)}</legend>
          <ObjectField {...part} field={field} value={value} />
        </fieldset>
      );
    case "list":
      if (!Array.isArray(value)) break;
      return <ListField {...part} field={field} value={value} />;
    case "branches":
      if (place.form.choices > MOST_CHOICES) return <RawField {...raw} />;
      return <Branches {...part} field={field} value={value} />;
    case "choices":
      if (value !== undefined && !Array.isArray(value)) break;
      return <Choices options={field.options} value={value ?? []} onChange={onChange} />;
    case "one_of":
      return <OneOf {...raw} options={field.options} />;
    case "yes_no":
      return <OneOf {...raw} options={YES_NO} />;
    case "number":
      if (typeof value === "object") break;
      return <NumberInput {...raw} />;
    case "text":
      if (value !== undefined && typeof value !== "string") break;
      return <TextValue {...raw} value={value} input={field.input} />;
    case "fixed":
      return <FixedValue value={value ?? field.value} />;
    case "raw":
      return (
        <>
          <p class="quiet form-field-words">{field.why} As JSON:</p>
          <RawField {...raw} />
        </>
      );
  }
  return (
    <>
      <p class="quiet">This value is of another kind; as JSON:</p>
      <RawField {...raw} />
    </>
  );
}

/** Its properties as the schema lists them, then the others it has. */
function ObjectField({ form, field, value, at, onChange }: Part<JsonObject> & FieldOf<"object">) {
  const known = new Set(field.properties.map(({ name }) => name));
  const extras = Object.keys(value)
    .filter((name) => !known.has(name))
    .map((name) => ({ name, schema: true, is_required: false }));
  const shown = [...field.properties, ...extras];

  function set(name: string, next: JsonValue | undefined): void {
    const entries = new Map(Object.entries(value));
    if (next === undefined) entries.delete(name);
    else entries.set(name, next);
    onChange(Object.fromEntries(entries));
  }

  return (
    <div class="object-field">
      {shown.length === 0 && (
        <p class="quiet">{field.extras === "none" ? "It takes no input." : "Nothing is set."}</p>
      )}
      {shown.map(({ name, schema, is_required }) => (
        <SchemaField
          key={name}
          form={form}
          schema={schema}
          name={name}
          is_required={is_required}
          value={Object.hasOwn(value, name) ? value[name] : undefined}
          at={`${at}/${pointerStep(name)}`}
          onChange={(next) => set(name, next)}
        />
      ))}
      {form.offers_extras && field.extras === "any" && (
        <AddProperty
          isTaken={(name) => known.has(name) || Object.hasOwn(value, name)}
          onAdd={(name) => set(name, null)}
        />
      )}
    </div>
  );
}

function AddProperty(props: { isTaken: (name: string) => boolean; onAdd: (name: string) => void }) {
  const [name, setName] = useState<string>();
  if (name === undefined) {
    return <LinkButton onClick={() => setName("")}>Add another property</LinkButton>;
  }
  return (
    <div class="add-property">
      <label>
        Name <TextInput value={name} autocomplete="off" onText={setName} />
      </label>
      <Button
        disabled={name === "" || props.isTaken(name)}
        onClick={() => {
          props.onAdd(name);
          setName(undefined);
        }}
      >
        Add
      </Button>
      <LinkButton onClick={() => setName(undefined)}>Cancel</LinkButton>
    </div>
  );
}

const MOST_ENTRIES = 50;

function ListField(props: Part<readonly JsonValue[]> & FieldOf<"list">) {
  const { form, field, value, at, onChange } = props;
  const [shown, more, showAtLeast] = useFirst(value, MOST_ENTRIES, "entries");
  return (
    <div class="list-field">
      <ol>
        {shown.map((item, index) => (
          <li key={index}>
            <SchemaField
              form={form}
              schema={field.items}
              name={`Entry ${index + 1}`}
              is_entry
              value={item}
              at={`${at}/${index}`}
              // An entry that is emptied stays an entry.
              onChange={(next) => onChange(value.with(index, next ?? null))}
            />
            <LinkButton
              aria-label={`Remove entry ${index + 1}`}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              Remove
            </LinkButton>
          </li>
        ))}
      </ol>
      {more}
      <Button
        onClick={() => {
          showAtLeast(value.length + 1);
          onChange([...value, addedValue(form.root, field.items)]);
        }}
      >
        Add an entry
      </Button>
    </div>
  );
}

/** One of several forms. What was filled in for another is kept while the user looks at this one. */
function Branches(props: Part & FieldOf<"branches"> & { id: string }) {
  const { id, form, field, value, at, onChange } = props;
  const { branches } = field;
  const [chosen, setChosen] = useState(() =>
    value === undefined ? 0 : findBranch(form.root, branches, value),
  );
  const filled = useRef(new Map<number, JsonValue | undefined>());

  function choose(next: number): void {
    filled.current.set(chosen, value);
    setChosen(next);
    const { current } = filled;
    const first = () => addedValue(form.root, branches[next]?.schema);
    onChange(current.has(next) ? current.get(next) : first());
  }

  return (
    <div class="branches">
      <Select
        id={id}
        value={String(chosen)}
        options={branches.map(({ label }, index) => [String(index), visibleLine(label)])}
        onChoose={(index) => choose(Number(index))}
      />
      <SchemaField
        key={chosen}
        form={{ ...form, choices: form.choices + 1 }}
        schema={branches[chosen]?.schema}
        name={branches[chosen]?.label ?? "Value"}
        is_entry
        value={value}
        at={at}
        onChange={onChange}
      />
    </div>
  );
}
