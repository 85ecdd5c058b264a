// A fact's line in events.jsonl: the journal's own text, but a long string in its data is a reference to
// the journal with its beginning (EVENT-5).

import type { CommittedFact } from "./run-folders-contract.ts";
import { headOf } from "./bounded-text.ts";

/** A string with more characters than this is a reference. */
const LONG_STRING = 4096;
const HEAD = 256;

export function eventLine({ fact, line }: CommittedFact): string {
  // A long string makes a long line: most lines need no second look and stay byte for byte.
  if (line.length <= LONG_STRING) return line;
  const copy = JSON.parse(line) as { data?: unknown };
  const journal = `journal:${fact.session_id}/${fact.seq}#`;
  return replaceLongStrings(copy.data, `${journal}/data`) ? JSON.stringify(copy) : line;
}

/** In place, without recursion: data may be nested deeper than the stack allows. */
function replaceLongStrings(data: unknown, at: string): boolean {
  let hasReplaced = false;
  const open: { value: object; pointer: string }[] = [];
  if (isObject(data)) open.push({ value: data, pointer: at });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const holder = next.value as Record<string, unknown>;
    for (const key of Object.keys(holder)) {
      const value = holder[key];
      if (typeof value === "string" && value.length > LONG_STRING) {
        const $ref = `${next.pointer}/${pointerStep(key)}`;
        holder[key] = { $ref, chars: value.length, head: headOf(value, HEAD) };
        hasReplaced = true;
      } else if (isObject(value)) {
        open.push({ value, pointer: `${next.pointer}/${pointerStep(key)}` });
      }
    }
  }
  return hasReplaced;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** RFC 6901. */
function pointerStep(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
