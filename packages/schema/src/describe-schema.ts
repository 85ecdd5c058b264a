// Short words for a schema and its values, for messages: "string", "one of \"a\", \"b\"", "array of number".

import { isRecord } from "./json.ts";
import { shorten } from "./text.ts";

export function describeSchema(schema: unknown, depth = 0): string {
  if (!isRecord(schema)) return "a value";
  if (Array.isArray(schema.enum)) {
    return schema.enum.length === 1
      ? quoteValue(schema.enum[0])
      : `one of ${listValues(schema.enum)}`;
  }
  if ("const" in schema) return quoteValue(schema.const);
  for (const union of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(union) && depth < 2) {
      const parts = new Set(union.map((branch) => describeSchema(branch, depth + 1)));
      if (parts.size <= 4) return [...parts].join(" or ");
    }
  }
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.map((type) => describeType(schema, type, depth)).join(" or ");
}

export function listValues(values: readonly unknown[]): string {
  let text = "";
  let shown = 0;
  for (const value of values) {
    const next = `${text}${shown > 0 ? ", " : ""}${quoteValue(value)}`;
    if (next.length > 400) break;
    text = next;
    shown += 1;
  }
  return shown < values.length ? `${text} and ${values.length - shown} more` : text;
}

export function quoteValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return shorten(text, 60);
}

function describeType(schema: { readonly [key: string]: unknown }, type: unknown, depth: number) {
  if (type === "string" && typeof schema.format === "string") return `string (${schema.format})`;
  if (type === "array" && isRecord(schema.items) && depth < 2) {
    return `array of ${describeSchema(schema.items, depth + 1)}`;
  }
  return typeof type === "string" ? type : "a value";
}
