// What stands around every field: its name, whether it is required, what it is for, its limits, what is wrong with it.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { visible, visibleLine } from "../parts/visible.ts";
import type { Field } from "./field.ts";

export function FieldFrame(props: {
  name: string;
  field: Field;
  is_required: boolean;
  is_left_out: boolean;
  problem: string | undefined;
  onLeaveOut: (() => void) | undefined;
  onAdd?: () => void;
  children: (id: string) => ComponentChildren;
}) {
  const { field, name } = props;
  const id = useId();
  const hints = [
    ...field.limits,
    ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
  ];
  return (
    <div class={`form-field kind-${field.kind}`}>
      <div class="form-field-head">
        <label for={id} class="form-field-name">
          {visibleLine(field.title ?? name)}
          {field.title !== undefined && field.title !== name && (
            <span class="quiet mono"> {visibleLine(name)}</span>
          )}
        </label>
        {props.is_required ? (
          <span class="chip">required</span>
        ) : (
          props.is_left_out && <span class="quiet">left out</span>
        )}
        {!props.is_left_out && props.onLeaveOut !== undefined && (
          <button
            type="button"
            class="link"
            aria-label={`Leave out ${name}`}
            onClick={props.onLeaveOut}
          >
            Leave out
          </button>
        )}
        {props.onAdd !== undefined && (
          <button type="button" class="link" aria-label={`Add ${name}`} onClick={props.onAdd}>
            Add
          </button>
        )}
      </div>
      {field.description !== undefined && (
        <p class="quiet form-field-words">{visible(field.description)}</p>
      )}
      {hints.length > 0 && <p class="quiet form-field-words">{visibleLine(hints.join(", "))}</p>}
      {props.children(id)}
      {props.problem !== undefined && (
        <p class="form-field-problem">
          <span aria-hidden="true">⚠ </span>
          {visibleLine(name)} {visibleLine(props.problem)}
        </p>
      )}
    </div>
  );
}
