// The value of a field in the text of a command line. A value that a program could not receive as it is,
// or would take for something else, is refused in words the model can act on (DECL-3).

import type { JsonObject, JsonValue } from "@soong/core";
import { isRecord } from "@soong/schema";
import type { SchemaField } from "./schema-field.ts";

/** The texts a field stands for: none when it is absent, several for a list. */
export type FieldTexts = { ok: true; texts: readonly string[] } | { ok: false; message: string };

export function fieldTexts(field: SchemaField, input: JsonObject): FieldTexts {
  const value = valueAt(input, field.path);
  if (value === undefined || value === null) return { ok: true, texts: [] };
  const values = Array.isArray(value) ? value : [value];
  const texts: string[] = [];
  for (const [index, entry] of values.entries()) {
    const name = field.path.join(".") + (Array.isArray(value) ? `[${index}]` : "");
    if (typeof entry === "object") {
      return { ok: false, message: `${name} is not text, a number, true or false` };
    }
    const text = typeof entry === "string" ? entry : JSON.stringify(entry);
    const problem = textProblem(text);
    if (problem !== undefined) return { ok: false, message: `${name} ${problem}` };
    texts.push(text);
  }
  return { ok: true, texts };
}

/** A value a program would take for an option; the model must not choose options by way of a value. */
export function optionProblem(field: SchemaField, item: string): string | undefined {
  if (!item.startsWith("-") || field.enumerated) return undefined;
  const shown = JSON.stringify(item.slice(0, 100));
  return `${field.path.join(".")} makes ${shown}, which begins with "-" and would be taken for an option; give another value (for a file, begin with "./")`;
}

/** The system refuses longer ones with a word that says nothing. */
export function lengthProblem(item: string): string | undefined {
  if (Buffer.byteLength(item) <= MAX_ITEM_BYTES) return undefined;
  return `the values make an item of more than ${MAX_ITEM_BYTES} bytes, which is too long for a command line; give shorter ones`;
}

/** Linux takes 128 KiB with the NUL at the end. */
const MAX_ITEM_BYTES = 128 * 1024 - 1;

function textProblem(text: string): string | undefined {
  if (text.includes("\0")) return "contains a NUL character, which no command line can hold";
  if (LONE_SURROGATE.test(text)) return "contains half a character (a lone surrogate)";
  return undefined;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function valueAt(input: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const step of path) {
    if (!isRecord(value)) return undefined;
    value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
