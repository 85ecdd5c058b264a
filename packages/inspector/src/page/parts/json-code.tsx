// A JSON value as indented lines, those that changed marked with a sign. Shown from the beginning, more on demand; the
// lines are made one by one, so showing the first hundred costs only those.

import { pointerStep } from "@soong/core/internal";
import { useMemo, useState } from "preact/hooks";
import { LinkButton } from "./button.tsx";
import { listEntries } from "./json-tree.tsx";
import { CutText } from "./text.tsx";

const LINES = 200;
const LONGEST_LINE = 1_000;

export function JsonCode(props: {
  value: unknown;
  /** Pointers of what is marked. */
  marked?: readonly string[];
  sign?: "+" | "−";
  label: string;
}) {
  const { value, marked = [], sign } = props;
  const [limit, setLimit] = useState(LINES);
  const lines = useMemo(() => firstLines(value, limit + 1), [value, limit]);
  return (
    <div class="json-code" role="group" tabIndex={0} aria-label={props.label}>
      {lines.slice(0, limit).map(({ depth, pointer, text }, index) => {
        const isMarked = marked.some((path) => isWithin(pointer, path));
        const look = isMarked ? `json-line ${sign === "−" ? "removed" : "added"}` : "json-line";
        return (
          <div key={index} class={look}>
            {sign && <span class="line-sign">{isMarked ? sign : "\u00a0"}</span>}
            <span>
              <CutText text={"  ".repeat(Math.min(depth, 40)) + text} first={LONGEST_LINE} exact />
            </span>
          </div>
        );
      })}
      {lines.length > limit && (
        <LinkButton onClick={() => setLimit(limit * 4)}>Show more lines</LinkButton>
      )}
    </div>
  );
}

function firstLines(value: unknown, limit: number): JsonLine[] {
  const lines: JsonLine[] = [];
  for (const line of jsonLines(value)) {
    lines.push(line);
    if (lines.length >= limit) break;
  }
  return lines;
}

interface JsonLine {
  readonly depth: number;
  /** JSON pointer of the value on this line; brackets belong to what they enclose. */
  readonly pointer: string;
  readonly text: string;
}

/** Without recursion: how deep a value is, is up to who sent it. */
export function* jsonLines(value: unknown): Generator<JsonLine, void> {
  const open: { parts: Iterator<[string, unknown]>; left: number; end: JsonLine }[] = [];
  let next = { value, pointer: "", prefix: "", suffix: "" };
  for (;;) {
    const { pointer, prefix, suffix } = next;
    const entries = listEntries(next.value) ?? [];
    const [first, last] = Array.isArray(next.value) ? "[]" : listEntries(next.value) ? "{}" : "";
    const depth = open.length;
    if (entries.length === 0) {
      const text = first === undefined ? JSON.stringify(next.value) : `${first}${last}`;
      yield { depth, pointer, text: `${prefix}${text}${suffix}` };
    } else {
      yield { depth, pointer, text: `${prefix}${first}` };
      const end = { depth, pointer, text: `${last}${suffix}` };
      open.push({ parts: entries.values(), left: entries.length, end });
    }
    let top = open.at(-1);
    for (; top?.left === 0; top = open.at(-1)) {
      open.pop();
      yield top.end;
    }
    if (top === undefined) return;
    top.left -= 1;
    const [name, inner] = top.parts.next().value as [string, unknown];
    next = {
      value: inner,
      pointer: `${top.end.pointer}/${pointerStep(name)}`,
      prefix: top.end.text.startsWith("]") ? "" : `${JSON.stringify(name)}: `,
      suffix: top.left > 0 ? "," : "",
    };
  }
}

/** Whether a line shows something of what is at the path, or below it. The brackets around it do not. */
export function isWithin(pointer: string, path: string): boolean {
  return path === "" || pointer === path || pointer.startsWith(`${path}/`);
}
