// What a failed keyword asked for, in words: "at most 10 items", "one of \"a\", \"b\"".

import { listValues, quoteValue } from "./describe-schema.ts";
import { FORMAT_EXAMPLES } from "./formats.ts";
import { shorten } from "./text.ts";

export function expectation(keyword: string, params: Record<string, unknown>): string {
  const limit = Number(params.limit);
  switch (keyword) {
    case "type":
      return (Array.isArray(params.type) ? params.type : [params.type]).join(" or ");
    case "enum":
      return oneOf(params.allowedValues as unknown[]);
    case "const":
      return quoteValue(params.allowedValue);
    case "minLength":
      return `at least ${count(limit, "character")}`;
    case "maxLength":
      return `at most ${count(limit, "character")}`;
    case "minItems":
      return `at least ${count(limit, "item")}`;
    case "maxItems":
      return `at most ${count(limit, "item")}`;
    case "minProperties":
      return `at least ${count(limit, "field")}`;
    case "maxProperties":
      return `at most ${count(limit, "field")}`;
    case "minimum":
      return `a number of at least ${limit}`;
    case "maximum":
      return `a number of at most ${limit}`;
    case "exclusiveMinimum":
      return `a number above ${limit}`;
    case "exclusiveMaximum":
      return `a number below ${limit}`;
    case "multipleOf":
      return `a multiple of ${String(params.multipleOf)}`;
    case "pattern":
      return `text matching /${shorten(String(params.pattern), 120)}/`;
    case "format": {
      const format = String(params.format);
      return `${format} such as "${FORMAT_EXAMPLES[format] ?? format}"`;
    }
    case "contains":
      return `at least ${count(Number(params.minContains ?? 1), "item")} of the kind the schema names`;
    case "oneOf":
      return "a value that fits exactly one of the alternatives, not several";
    case "not":
      return "a value other than the ones the schema excludes";
    case "false schema":
      return "nothing here";
    case "unevaluatedItems":
      return "no further items";
    default:
      return `a value that satisfies ${keyword}`;
  }
}

export function oneOf(values: readonly unknown[]): string {
  return values.length === 1 ? quoteValue(values[0]) : `one of ${listValues(values)}`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
