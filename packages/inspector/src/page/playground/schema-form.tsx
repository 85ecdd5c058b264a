// A form made from a JSON Schema. The value is all the state there is: everything typed becomes part of it, also what
// the schema would refuse, so that going over to JSON and back loses nothing.

import { visibleLine, type JsonObject, type JsonValue } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import { isJsonObject } from "@soong/schema";
import { useMemo, useRef, useState } from "preact/hooks";
import { Button, LinkButton } from "../parts/button.tsx";
import { branchOf } from "./branch.ts";
import { fieldOf, type Field } from "./field.ts";
import {
  Choices,
  FieldFrame,
  FixedValue,
  NumberInput,
  OneOf,
  RawField,
  TextField,
  YesNo,
  type Change,
} from "./plain-fields.tsx";
import type { Schema } from "./schema.ts";
import { addedValue, problemsOf } from "./value.ts";

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
  offers_extras: boolean;
}) {
  const { schema, value, says_missing, offers_extras, onChange } = props;
  const problems = useMemo(() => {
    const found = problemsOf(schema, schema, value ?? {});
    const said = found.filter(({ is_missing }) => says_missing || is_missing !== true);
    return new Map(said.map(({ at, text }) => [at, text]));
  }, [schema, value, says_missing]);
  const form = { root: schema, problems, offers_extras, choices: 0 };
  const field = fieldOf(schema, schema);
  const whole = value ?? {};
  if (field.kind === "object" && isJsonObject(whole)) {
    return <ObjectField form={form} field={field} value={whole} at="" onChange={onChange} />;
  }
  const name = field.title ?? "Value";
  return (
    <SchemaField form={form} schema={schema} {...{ name, value, onChange }} at="" is_required />
  );
}

interface SchemaFieldProps extends Part {
  schema: JsonValue | undefined;
  name: string;
  is_required?: boolean;
  /** An entry of a list is removed, never omitted. */
  is_entry?: boolean;
}

function SchemaField(props: SchemaFieldProps) {
  const { form, schema, value, at, onChange } = props;
  const field = useMemo(() => fieldOf(form.root, schema), [form.root, schema]);
  // Of several forms, the one that is chosen reports it.
  const problem = field.kind === "branches" ? undefined : form.problems.get(at);
  return (
    <FieldFrame
      name={props.name}
      field={field}
      is_required={props.is_required === true}
      is_omitted={value === undefined}
      problem={problem}
      onOmit={props.is_entry === true ? undefined : () => onChange(undefined)}
      {...(value === undefined && isAdded(field)
        ? { onAdd: () => onChange(addedValue(form.root, schema)) }
        : {})}
    >
      {(id) => <FieldInput {...{ id, field, form, value, at, onChange }} />}
    </FieldFrame>
  );
}

/** Those that have nothing to type into while they are omitted. */
function isAdded({ kind }: Field): boolean {
  return kind === "object" || kind === "list" || kind === "branches" || kind === "fixed";
}

const MOST_CHOICES = 12;

function FieldInput(props: Part & { id: string; field: Field }) {
  const { id, field, form, value, at, onChange } = props;
  const raw = { id, value, onChange };
  if (value === undefined && isAdded(field)) return null;
  switch (field.kind) {
    case "object":
      if (!isJsonObject(value)) return <Misfit {...raw} />;
      return (
        <fieldset class="nested">
          <legend class="unseen">{visibleLine(field.title ?? at)}</legend>
          <ObjectField {...{ form, field, value, at, onChange }} />
        </fieldset>
      );
    case "list":
      if (!Array.isArray(value)) return <Misfit {...raw} />;
      return <ListField {...{ form, field, value, at, onChange }} />;
    case "branches":
      if (form.choices > MOST_CHOICES) return <RawField {...raw} />;
      return <Branches {...{ form, id, field, value, at, onChange }} />;
    case "choices":
      if (value !== undefined && !Array.isArray(value)) return <Misfit {...raw} />;
      return <Choices options={field.options} value={value ?? []} onChange={onChange} />;
    case "one_of":
      return <OneOf {...raw} options={field.options} />;
    case "yes_no":
      return <YesNo {...raw} />;
    case "number":
      return typeof value === "object" ? <Misfit {...raw} /> : <NumberInput {...raw} />;
    case "text":
      if (value !== undefined && typeof value !== "string") return <Misfit {...raw} />;
      return <TextField id={id} input={field.input} value={value} onChange={onChange} />;
    case "fixed":
      return <FixedValue value={field.value} given={value} />;
    case "raw":
      return (
        <>
          <p class="quiet form-field-words">{field.why} As JSON:</p>
          <RawField {...raw} />
        </>
      );
  }
}

/** A value of another kind than the field: shown as it is. */
function Misfit(props: { id: string; value: JsonValue | undefined; onChange: Change }) {
  return (
    <>
      <p class="quiet">This value is of another kind; as JSON:</p>
      <RawField {...props} />
    </>
  );
}

/** Its properties as the schema lists them, then the others it has. */
function ObjectField(props: Part<JsonObject> & FieldOf<"object">) {
  const { form, field, value, at } = props;
  const known = new Set(field.properties.map(({ name }) => name));
  const extras = Object.keys(value)
    .filter((name) => !known.has(name))
    .map((name) => ({ name, schema: true, is_required: false }));
  const shown = [...field.properties, ...extras];

  function set(name: string, next: JsonValue | undefined): void {
    const rest = Object.entries(value).filter(([own]) => own !== name || next !== undefined);
    const replaced = rest.map(([own, before]) => [own, own === name ? next : before] as const);
    const isNew = next !== undefined && !Object.hasOwn(value, name);
    props.onChange(
      Object.fromEntries([...replaced, ...(isNew ? [[name, next] as const] : [])]) as JsonObject,
    );
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
  const isFree = name !== "" && !props.isTaken(name);
  return (
    <div class="add-property">
      <label>
        Name{" "}
        <input
          type="text"
          value={name}
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <Button
        disabled={!isFree}
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
  const { form, field, value, at } = props;
  const [limit, setLimit] = useState(MOST_ENTRIES);
  return (
    <div class="list-field">
      <ol>
        {value.slice(0, limit).map((item, index) => (
          <li key={index}>
            <SchemaField
              form={form}
              schema={field.items}
              name={`Entry ${index + 1}`}
              is_entry
              value={item}
              at={`${at}/${index}`}
              // An entry that is emptied stays an entry.
              onChange={(next) => props.onChange(value.with(index, next ?? null))}
            />
            <LinkButton
              aria-label={`Remove entry ${index + 1}`}
              onClick={() => props.onChange(value.toSpliced(index, 1))}
            >
              Remove
            </LinkButton>
          </li>
        ))}
      </ol>
      {value.length > limit && (
        <LinkButton onClick={() => setLimit(limit * 4)}>
          Show more: {value.length - limit} entries are not shown
        </LinkButton>
      )}
      <Button
        onClick={() => {
          setLimit(Math.max(limit, value.length + 1));
          props.onChange([...value, addedValue(form.root, field.items)]);
        }}
      >
        Add an entry
      </Button>
    </div>
  );
}

/** One of several forms. What was filled in for another is kept while the user looks at this one. */
function Branches(props: Part & FieldOf<"branches"> & { id: string }) {
  const { form, value, at, onChange } = props;
  const { branches } = props.field;
  const [chosen, setChosen] = useState(() =>
    value === undefined ? 0 : branchOf(form.root, branches, value),
  );
  const filled = useRef(new Map<number, JsonValue | undefined>());

  function choose(next: number): void {
    filled.current.set(chosen, value);
    setChosen(next);
    onChange(
      filled.current.has(next)
        ? filled.current.get(next)
        : addedValue(form.root, branches[next]?.schema),
    );
  }

  return (
    <div class="branches">
      <select
        id={props.id}
        value={String(chosen)}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {branches.map(({ label }, index) => (
          <option key={index} value={String(index)}>
            {visibleLine(label)}
          </option>
        ))}
      </select>
      <SchemaField
        key={chosen}
        form={{ ...form, choices: form.choices + 1 }}
        schema={branches[chosen]?.schema}
        name={branches[chosen]?.label ?? "Value"}
        is_entry
        {...{ value, at, onChange }}
      />
    </div>
  );
}
