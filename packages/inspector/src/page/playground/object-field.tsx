// An object: its properties as the schema lists them, then whatever else is in it.

import type { JsonObject, JsonValue } from "@soong/core";
import { useState } from "preact/hooks";
import { pointerPart } from "../call/json-lines.ts";
import type { Field } from "./field.ts";
import type { Form } from "./form-parts.ts";

export function ObjectField(props: {
  form: Form;
  field: Extract<Field, { kind: "object" }>;
  value: JsonObject;
  at: string;
  onChange: (value: JsonObject) => void;
}) {
  const { form, field, value, at } = props;
  const known = new Set(field.properties.map(({ name }) => name));
  const extras = Object.keys(value).filter((name) => !known.has(name));

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
      {field.properties.length + extras.length === 0 && (
        <p class="quiet">{field.extras === "none" ? "It takes no input." : "Nothing is set."}</p>
      )}
      {field.properties.map(({ name, schema, is_required }) => (
        <form.Field
          key={name}
          form={form}
          schema={schema}
          name={name}
          is_required={is_required}
          value={Object.hasOwn(value, name) ? value[name] : undefined}
          at={`${at}/${pointerPart(name)}`}
          onChange={(next) => set(name, next)}
        />
      ))}
      {extras.map((name) => (
        <form.Field
          key={name}
          form={form}
          schema={true}
          name={name}
          is_required={false}
          value={value[name]}
          at={`${at}/${pointerPart(name)}`}
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
    return (
      <button type="button" class="link" onClick={() => setName("")}>
        Add another property
      </button>
    );
  }
  const isFree = name !== "" && !props.isTaken(name);
  return (
    <div class="add-property">
      <label>
        Its name{" "}
        <input
          type="text"
          value={name}
          autocomplete="off"
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <button
        type="button"
        class="button"
        disabled={!isFree}
        onClick={() => {
          props.onAdd(name);
          setName(undefined);
        }}
      >
        Add
      </button>
      <button type="button" class="link" onClick={() => setName(undefined)}>
        Cancel
      </button>
    </div>
  );
}
