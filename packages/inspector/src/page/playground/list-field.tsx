// A list: its entries, each of which can be taken away, and a way to add one.

import type { JsonValue } from "@soong/core";
import { useState } from "preact/hooks";
import type { Field } from "./field.ts";
import type { Form } from "./form-parts.ts";
import { addedValue } from "./value.ts";

const MOST_ENTRIES = 50;

export function ListField(props: {
  form: Form;
  field: Extract<Field, { kind: "list" }>;
  value: readonly JsonValue[];
  at: string;
  onChange: (value: JsonValue[]) => void;
}) {
  const { form, field, value, at } = props;
  const [limit, setLimit] = useState(MOST_ENTRIES);
  return (
    <div class="list-field">
      <ol>
        {value.slice(0, limit).map((item, index) => (
          <li key={index}>
            <form.Field
              form={form}
              schema={field.items}
              name={`Entry ${index + 1}`}
              is_required={false}
              is_entry={true}
              value={item}
              at={`${at}/${index}`}
              // An entry that is emptied stays an entry.
              onChange={(next) => props.onChange(value.with(index, next ?? null))}
            />
            <button
              type="button"
              class="link"
              aria-label={`Take away entry ${index + 1}`}
              onClick={() => props.onChange(value.toSpliced(index, 1))}
            >
              Take away
            </button>
          </li>
        ))}
      </ol>
      {value.length > limit && (
        <button type="button" class="link" onClick={() => setLimit(limit * 4)}>
          Show more: {value.length - limit} entries are not shown
        </button>
      )}
      <button
        type="button"
        class="button"
        onClick={() => {
          setLimit(Math.max(limit, value.length + 1));
          props.onChange([...value, addedValue(form.root, field.items)]);
        }}
      >
        Add an entry
      </button>
    </div>
  );
}
