// A JSON value as indented lines, each with the pointer of the value it belongs to, so that a change can be marked where
// it is. Made one by one: showing the first hundred costs only those.

import { pointerStep } from "@soong/core/internal";

export interface JsonLine {
  readonly depth: number;
  /** JSON pointer of the value on this line; brackets belong to what they enclose. */
  readonly pointer: string;
  readonly text: string;
}

export function* jsonLines(value: unknown): Generator<JsonLine, void> {
  const stack: Frame[] = [];
  let next: Next | undefined = { value, pointer: "", prefix: "", suffix: "" };
  while (next !== undefined) {
    const { pointer, prefix, suffix } = next;
    const depth = stack.length;
    const entries = entriesOf(next.value);
    if (entries === undefined || entries.length === 0) {
      yield { depth, pointer, text: prefix + scalarText(next.value) + suffix };
    } else {
      const isArray = Array.isArray(next.value);
      yield { depth, pointer, text: prefix + (isArray ? "[" : "{") };
      stack.push({ entries, at: 0, isArray, pointer, suffix });
    }
    next = undefined;
    for (let top = stack.at(-1); top !== undefined && next === undefined; top = stack.at(-1)) {
      const entry = top.entries[top.at];
      if (entry === undefined) {
        stack.pop();
        yield {
          depth: stack.length,
          pointer: top.pointer,
          text: (top.isArray ? "]" : "}") + top.suffix,
        };
      } else {
        top.at += 1;
        next = {
          value: entry[1],
          pointer: `${top.pointer}/${pointerStep(entry[0])}`,
          prefix: top.isArray ? "" : `${JSON.stringify(entry[0])}: `,
          suffix: top.at < top.entries.length ? "," : "",
        };
      }
    }
  }
}

interface Next {
  readonly value: unknown;
  readonly pointer: string;
  readonly prefix: string;
  readonly suffix: string;
}

interface Frame {
  readonly entries: readonly [string, unknown][];
  at: number;
  readonly isArray: boolean;
  readonly pointer: string;
  readonly suffix: string;
}

/** Whether a line shows something of what is at the path, or below it. The brackets around it do not. */
export function isWithin(pointer: string, path: string): boolean {
  return path === "" || pointer === path || pointer.startsWith(`${path}/`);
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

function scalarText(value: unknown): string {
  if (Array.isArray(value)) return "[]";
  if (typeof value === "object" && value !== null) return "{}";
  return JSON.stringify(value) ?? "undefined";
}
