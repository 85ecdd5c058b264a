// A form made from a JSON Schema. The value is all the state there is: whatever is typed becomes part of it, also what
// the schema would refuse, so that going over to JSON and back loses nothing.

import { visibleLine, type JsonObject, type JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/core/internal";
import { useMemo } from "preact/hooks";
import { Branches } from "./branch-field.tsx";
import { FieldFrame } from "./field-frame.tsx";
import { fieldOf, type Field } from "./field.ts";
import { ListField } from "./list-field.tsx";
import { ObjectField } from "./object-field.tsx";
import { RawField } from "./raw-field.tsx";
import { Choices, FixedValue, NumberInput, OneOf, TextField, YesNo } from "./plain-fields.tsx";
import type { Form, SchemaFieldProps } from "./form-parts.ts";
import { addedValue, problemsOf } from "./value.ts";

export function SchemaForm(props: {
  schema: JsonObject;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
  /** What is missing is said once the person wanted to go on. */
  says_missing: boolean;
  /** Properties that the schema does not name, and does not forbid. */
  offers_extras: boolean;
}) {
  const { schema, value, says_missing, offers_extras } = props;
  const problems = useMemo(() => {
    const found = problemsOf(schema, schema, value ?? {});
    const said = found.filter(({ is_missing }) => says_missing || is_missing !== true);
    return new Map(said.map(({ at, text }) => [at, text]));
  }, [schema, value, says_missing]);
  const form = { root: schema, problems, offers_extras, choices: 0, Field: SchemaField };
  const field = fieldOf(schema, schema);
  const whole = value ?? {};
  if (field.kind === "object" && isJsonObject(whole)) {
    return <ObjectField form={form} field={field} value={whole} at="" onChange={props.onChange} />;
  }
  return (
    <SchemaField
      form={form}
      schema={schema}
      name={field.title ?? "Value"}
      is_required={true}
      value={value}
      at=""
      onChange={props.onChange}
    />
  );
}

function SchemaField(props: SchemaFieldProps) {
  const { form, schema, value, at, onChange } = props;
  const field = useMemo(() => fieldOf(form.root, schema), [form.root, schema]);
  // Of several forms, the one that is chosen says it.
  const problem = field.kind === "branches" ? undefined : form.problems.get(at);
  return (
    <FieldFrame
      name={props.name}
      field={field}
      is_required={props.is_required}
      is_left_out={value === undefined}
      problem={problem}
      onLeaveOut={props.is_entry === true ? undefined : () => onChange(undefined)}
      {...(value === undefined && isAdded(field)
        ? { onAdd: () => onChange(addedValue(form.root, schema)) }
        : {})}
    >
      {(id) => (
        <FieldInput id={id} field={field} form={form} value={value} at={at} onChange={onChange} />
      )}
    </FieldFrame>
  );
}

/** Those that have nothing to type into while they are left out. */
function isAdded(field: Field): boolean {
  return (
    field.kind === "object" ||
    field.kind === "list" ||
    field.kind === "branches" ||
    field.kind === "fixed"
  );
}

const MOST_CHOICES = 12;

function FieldInput(props: {
  id: string;
  field: Field;
  form: Form;
  value: JsonValue | undefined;
  at: string;
  onChange: (value: JsonValue | undefined) => void;
}) {
  const { id, field, form, value, at, onChange } = props;
  if (value === undefined && isAdded(field)) return null;
  switch (field.kind) {
    case "object":
      if (!isJsonObject(value)) return <Misfit id={id} value={value} onChange={onChange} />;
      return (
        <fieldset class="nested">
          <legend class="unseen">{visibleLine(field.title ?? at)}</legend>
          <ObjectField form={form} field={field} value={value} at={at} onChange={onChange} />
        </fieldset>
      );
    case "list":
      if (!Array.isArray(value)) return <Misfit id={id} value={value} onChange={onChange} />;
      return <ListField form={form} field={field} value={value} at={at} onChange={onChange} />;
    case "branches":
      if (form.choices > MOST_CHOICES) {
        return <RawField id={id} value={value} onChange={onChange} />;
      }
      return (
        <Branches form={form} id={id} field={field} value={value} at={at} onChange={onChange} />
      );
    case "choices":
      if (value !== undefined && !Array.isArray(value)) {
        return <Misfit id={id} value={value} onChange={onChange} />;
      }
      return <Choices options={field.options} value={value ?? []} onChange={onChange} />;
    case "one_of":
      return <OneOf id={id} options={field.options} value={value} onChange={onChange} />;
    case "yes_no":
      return <YesNo id={id} value={value} onChange={onChange} />;
    case "number":
      if (value !== undefined && typeof value === "object") {
        return <Misfit id={id} value={value} onChange={onChange} />;
      }
      return <NumberInput id={id} value={value} onChange={onChange} />;
    case "text":
      if (value !== undefined && typeof value !== "string") {
        return <Misfit id={id} value={value} onChange={onChange} />;
      }
      return <TextField id={id} input={field.input} value={value} onChange={onChange} />;
    case "fixed":
      return <FixedValue value={field.value} given={value} />;
    case "raw":
      return (
        <>
          <p class="quiet form-field-words">{field.why} As JSON:</p>
          <RawField id={id} value={value} onChange={onChange} />
        </>
      );
  }
}

/** A value of another kind than the field: shown as it is. */
function Misfit(props: {
  id: string;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
}) {
  return (
    <>
      <p class="quiet">What is here is of another kind; as JSON:</p>
      <RawField {...props} />
    </>
  );
}
