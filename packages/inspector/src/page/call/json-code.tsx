// A JSON value as lines, those that changed marked with a sign. Shown from the beginning, more on demand.

import { LinkButton } from "../parts/button.tsx";
import { useMemo, useState } from "preact/hooks";
import { CutText } from "../parts/text.tsx";
import { isWithin, jsonLines, type JsonLine } from "./json-lines.ts";

const LINES = 200;
const LONGEST_LINE = 1_000;

export function JsonCode(props: {
  value: unknown;
  /** Pointers of what is marked. */
  marked?: readonly string[];
  sign?: "+" | "−";
  label: string;
}) {
  const [limit, setLimit] = useState(LINES);
  const lines = useMemo(() => firstLines(props.value, limit + 1), [props.value, limit]);
  const marked = props.marked ?? [];
  return (
    <div class="json-code" role="group" aria-label={props.label}>
      {lines.slice(0, limit).map((line, index) => {
        const isMarked = marked.some((path) => isWithin(line.pointer, path));
        return (
          <div
            key={index}
            class={isMarked ? `json-line ${props.sign === "−" ? "removed" : "added"}` : "json-line"}
          >
            {props.sign !== undefined && (
              <span class="line-sign">{isMarked ? props.sign : "\u00a0"}</span>
            )}
            <span>
              <CutText
                text={"  ".repeat(Math.min(line.depth, 40)) + line.text}
                first={LONGEST_LINE}
                exact
              />
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
