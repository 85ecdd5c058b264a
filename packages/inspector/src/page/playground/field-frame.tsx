// What stands around every field: its name, whether it is required, what it is for, its limits, what is wrong with it.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { CutText } from "../parts/cut-text.tsx";
import { visibleLine } from "@soong/core";
import type { Field } from "./field.ts";

/** Those of several inputs: a label belongs to one. */
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
