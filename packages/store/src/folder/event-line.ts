// A fact's line in events.jsonl: the journal's own text, but a long string in its data, and anything else that would make it
// longer than a fact may be in a stream, is a reference to the journal with its beginning (EVENT-5).

import { boundFact, type Fact } from "@soong/core";
import { journalRef, pointerStep } from "@soong/core/internal";
import type { CommittedFact } from "./run-folders-contract.ts";

/** A string with more characters than this is a reference. */
const LONG_STRING = 4096;

export function eventLine({ fact, line }: CommittedFact): string {
  // A long string makes a long line: most lines need no second look and stay byte for byte.
  if (line.length <= LONG_STRING) return line;
  const copy = JSON.parse(line) as Fact;
  const journal = `journal:${fact.session_id}/${fact.seq}#`;
  const text = replaceLongStrings(copy.data, `${journal}/data`) ? JSON.stringify(copy) : line;
  const bounded = boundFact(copy, text);
  return bounded === copy ? text : JSON.stringify(bounded);
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
        holder[key] = journalRef(value, $ref);
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
