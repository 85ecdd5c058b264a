// Short words for a schema, its values and what a failed keyword asked for: "string", "one of \"a\", \"b\"",
// "array of number", "at most 10 items".

import { FORMATS } from "./formats.ts";
import { isRecord } from "./json.ts";
import { shorten } from "./text.ts";

export function describeSchema(schema: unknown, depth = 0): string {
  if (!isRecord(schema)) return "a value";
  if (Array.isArray(schema.enum)) return describeChoice(schema.enum);
  if ("const" in schema) return quoteValue(schema.const);
  for (const union of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(union) && depth < 2) {
      const parts = new Set(union.map((branch) => describeSchema(branch, depth + 1)));
      if (parts.size <= 4) return [...parts].join(" or ");
    }
  }
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  const described = types.map((type) => {
    if (type === "string" && typeof schema.format === "string") return `string (${schema.format})`;
    if (type === "array" && isRecord(schema.items) && depth < 2) {
      return `array of ${describeSchema(schema.items, depth + 1)}`;
    }
    return typeof type === "string" ? type : "a value";
  });
  return described.join(" or ");
}

/** `params` are those of the validator's error. */
export function describeExpected(keyword: string, params: Record<string, unknown>): string {
  const [range, noun] = AMOUNTS[keyword] ?? [];
  if (range !== undefined) {
    return `${range} ${noun === undefined ? String(params.limit) : describeCount(Number(params.limit), noun)}`;
  }
  switch (keyword) {
    case "type":
      return [params.type].flat().join(" or ");
    case "enum":
      return describeChoice(params.allowedValues as unknown[]);
    case "const":
      return quoteValue(params.allowedValue);
    case "multipleOf":
      return `a multiple of ${String(params.multipleOf)}`;
    case "pattern":
      return `text matching /${shorten(String(params.pattern), 120)}/`;
    case "format": {
      const format = String(params.format);
      return `${format} such as "${FORMATS[format]?.example ?? format}"`;
    }
    case "contains":
      return `at least ${describeCount(Number(params.minContains ?? 1), "item")} of the kind the schema names`;
    default:
      return SENTENCES[keyword] ?? `a value that satisfies ${keyword}`;
  }
}

const AMOUNTS: Readonly<Record<string, readonly [range: string, noun?: string]>> = {
  minLength: ["at least", "character"],
  maxLength: ["at most", "character"],
  minItems: ["at least", "item"],
  maxItems: ["at most", "item"],
  minProperties: ["at least", "field"],
  maxProperties: ["at most", "field"],
  minimum: ["a number of at least"],
  maximum: ["a number of at most"],
  exclusiveMinimum: ["a number above"],
  exclusiveMaximum: ["a number below"],
};

const SENTENCES: Readonly<Record<string, string>> = {
  oneOf: "a value that fits exactly one of the alternatives, not several",
  not: "a value other than the ones the schema excludes",
  "false schema": "nothing here",
  unevaluatedItems: "no further items",
};

export function describeChoice(values: readonly unknown[]): string {
  return values.length === 1 ? quoteValue(values[0]) : `one of ${listValues(values)}`;
}

export function describeCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
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
  return shorten(JSON.stringify(value) ?? String(value), 60);
}
