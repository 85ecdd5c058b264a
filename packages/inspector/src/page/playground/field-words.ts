// What a schema says of a value in words: its name, what it is for, and its limits.

import type { JsonValue } from "@soong/core";
import type { Schema } from "./schema.ts";

export interface FieldWords {
  readonly title?: string;
  readonly description?: string;
  /** Limits in words: `at least 1`, `up to 20 characters`. */
  readonly limits: readonly string[];
  readonly default?: JsonValue;
}

export function wordsOf(schema: Schema): FieldWords {
  const { title, description, default: fallback } = schema;
  return {
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
    default: fallback,
    limits: limitsOf(schema),
  };
}

const LIMITS: readonly [keyword: string, words: (limit: string) => string][] = [
  ["minimum", (limit) => `at least ${limit}`],
  ["exclusiveMinimum", (limit) => `more than ${limit}`],
  ["maximum", (limit) => `at most ${limit}`],
  ["exclusiveMaximum", (limit) => `less than ${limit}`],
  ["multipleOf", (limit) => `a multiple of ${limit}`],
  ["minLength", (limit) => `at least ${limit} ${limit === "1" ? "character" : "characters"}`],
  ["maxLength", (limit) => `at most ${limit} ${limit === "1" ? "character" : "characters"}`],
  ["pattern", (limit) => `matching ${limit}`],
  ["format", (limit) => `format ${limit}`],
  ["minItems", (limit) => `at least ${limit} ${limit === "1" ? "entry" : "entries"}`],
  ["maxItems", (limit) => `at most ${limit} ${limit === "1" ? "entry" : "entries"}`],
  ["minProperties", (limit) => `at least ${limit} properties`],
  ["maxProperties", (limit) => `at most ${limit} properties`],
];

function limitsOf(schema: Schema): string[] {
  return LIMITS.flatMap(([keyword, words]) => {
    const limit = schema[keyword];
    return typeof limit === "number" || typeof limit === "string" ? [words(String(limit))] : [];
  });
}
