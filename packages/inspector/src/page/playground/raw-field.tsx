// A part of the input as JSON. What is no JSON is taken as the text it is, and says so: nothing typed is dropped.

import type { JsonValue } from "@soong/core";
import { useEffect, useState } from "preact/hooks";
import { describedBy } from "./field-frame.tsx";
import { equal } from "./schema.ts";
import { parseJsonText } from "./value.ts";

const MOST_ROWS = 24;

export function RawField(props: {
  id: string;
  value: JsonValue | undefined;
  onChange: (value: JsonValue | undefined) => void;
}) {
  const [text, setText] = useState(() => jsonText(props.value));
  useEffect(() => {
    if (!equal(valueOfText(text), props.value)) setText(jsonText(props.value));
  }, [props.value]);
  const parsed = parseJsonText(text);
  return (
    <>
      <textarea
        id={props.id}
        aria-describedby={describedBy(props.id)}
        class="mono raw"
        rows={Math.min(MOST_ROWS, Math.max(2, text.slice(0, 10_000).split("\n").length))}
        spellcheck={false}
        value={text}
        aria-invalid={!parsed.ok}
        onInput={(event) => {
          setText(event.currentTarget.value);
          props.onChange(valueOfText(event.currentTarget.value));
        }}
      />
      {!parsed.ok && (
        <p class="form-field-problem">
          <span aria-hidden="true">⚠ </span>
          {parsed.problem}. It would be sent as a text.
        </p>
      )}
    </>
  );
}

function valueOfText(text: string): JsonValue | undefined {
  const parsed = parseJsonText(text);
  return parsed.ok ? parsed.value : text;
}

/** A text that is no JSON is shown as it was typed: it would be read the same way again. */
function jsonText(value: JsonValue | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string" && !parseJsonText(value).ok) return value;
  return JSON.stringify(value, null, 2);
}
