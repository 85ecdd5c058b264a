// A value of one of several forms: which, and then the fields of that one. What was filled in for another form is kept
// while the person looks at this one.

import type { JsonValue } from "@soong/core";
import { useRef, useState } from "preact/hooks";
import { visibleLine } from "@soong/core";
import { branchOf } from "./branch.ts";
import type { Field } from "./field.ts";
import type { Form } from "./form-parts.ts";
import { addedValue } from "./value.ts";

export function Branches(props: {
  form: Form;
  id: string;
  field: Extract<Field, { kind: "branches" }>;
  value: JsonValue | undefined;
  at: string;
  onChange: (value: JsonValue | undefined) => void;
}) {
  const { form, field, value } = props;
  const { branches } = field;
  const [chosen, setChosen] = useState(() =>
    value === undefined ? 0 : branchOf(form.root, branches, value),
  );
  const filled = useRef(new Map<number, JsonValue | undefined>());

  function choose(next: number): void {
    filled.current.set(chosen, value);
    setChosen(next);
    props.onChange(
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
      <form.Field
        key={chosen}
        form={{ ...form, choices: form.choices + 1 }}
        schema={branches[chosen]?.schema}
        name={branches[chosen]?.label ?? "Value"}
        is_required={false}
        is_entry={true}
        value={value}
        at={props.at}
        onChange={props.onChange}
      />
    </div>
  );
}
