// A fact as a stream shows it: never above 64 KiB. What is too large for that is a reference into the journal, which has
// every fact whole (EVENT-5): `journal:<session>/<seq>#<pointer>`, with the size and the beginning of what is there.

import { firstChars, utf8Length } from "@soong/schema";
import type { Fact } from "./fact.ts";

export const MOST_FACT_BYTES = 64 * 1024;

const HEAD_CHARS = 256;

/** The fact itself where it is small enough. `line`: its text, where that is at hand. */
export function boundFact(fact: Fact, line = JSON.stringify(fact)): Fact {
  // No character takes more than three bytes for each unit of its text.
  if (line.length * 3 <= MOST_FACT_BYTES || utf8Length(line) <= MOST_FACT_BYTES) return fact;
  const copy = JSON.parse(line) as Fact;
  const journal = `journal:${fact.session_id}/${fact.seq}#`;
  const root: Holder = { data: copy.data };
  for (
    let size = utf8Length(line);
    size > MOST_FACT_BYTES;
    size = utf8Length(JSON.stringify(copy))
  ) {
    const isLess = replaceLargest(root, journal);
    copy.data = root["data"] as Fact["data"];
    // What is left is not in the data, and no tool or model has a say in its size.
    if (!isLess) break;
  }
  return copy;
}

/** What replaces a text or a list that is elsewhere. */
export function journalRef(value: string | object, $ref: string): object {
  if (typeof value === "string")
    return { $ref, chars: value.length, head: firstChars(value, HEAD_CHARS) };
  if (Array.isArray(value)) return { $ref, items: value.length };
  return { $ref, keys: Object.keys(value).length };
}

/** RFC 6901. */
export function pointerStep(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

type Holder = Record<string, unknown>;

/**
 * Follows the largest value down as long as it is most of what holds it: a long text is replaced, and not the result it
 * is part of; of ten thousand entries the list is. False when nothing is left that a reference would make smaller.
 */
function replaceLargest(root: Holder, journal: string): boolean {
  let holder = root;
  let pointer = "";
  let chosen: { holder: Holder; key: string; pointer: string } | undefined;
  for (let most = 0; ;) {
    const [key, size] = largestIn(holder);
    if (key === undefined || size * 2 < most) break;
    const value = holder[key];
    pointer = `${pointer}/${pointerStep(key)}`;
    chosen = { holder, key, pointer };
    if (!isHolder(value)) break;
    holder = value;
    most = size;
  }
  if (chosen === undefined) return false;
  const { holder: of, key } = chosen;
  const value = of[key];
  if (typeof value !== "string" && !isHolder(value)) return false;
  const ref = journalRef(value, `${journal}${chosen.pointer}`);
  if (measureJson(ref) >= measureJson(value)) return false;
  of[key] = ref;
  return true;
}

function largestIn(holder: Holder): [string | undefined, number] {
  let largest: string | undefined;
  let most = 0;
  for (const key of Object.keys(holder)) {
    const size = measureJson(holder[key]);
    if (size <= most) continue;
    largest = key;
    most = size;
  }
  return [largest, most];
}

function measureJson(value: unknown): number {
  return typeof value === "string" ? value.length : (JSON.stringify(value)?.length ?? 0);
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null;
}
