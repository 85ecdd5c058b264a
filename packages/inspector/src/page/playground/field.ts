// What kind of field a schema asks for. Pure: the form draws what this says, and anything else is `raw`, which
// is edited as JSON.

import type { JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { resolved, type Schema } from "./schema.ts";

/** What a schema says of a value in words. */
interface FieldWords {
  readonly title?: string;
  readonly description?: string;
  /** Limits in words: `at least 1`, `up to 20 characters`. */
  readonly limits: readonly string[];
  readonly default?: JsonValue;
}

export type Field = FieldWords &
  (
    | { kind: "object"; properties: readonly Property[]; extras: "none" | "any" }
    | { kind: "list"; items: JsonValue; fewest: number; most: number | undefined }
    /** A list in which each of some values is, or is not. */
    | { kind: "choices"; options: readonly Option[] }
    | { kind: "one_of"; options: readonly Option[] }
    | { kind: "branches"; branches: readonly Branch[] }
    | { kind: "text"; input: TextInput }
    | { kind: "number"; is_integer: boolean }
    | { kind: "yes_no" }
    | { kind: "fixed"; value: JsonValue }
    | { kind: "raw"; why: string }
  );

interface Property {
  readonly name: string;
  readonly schema: JsonValue;
  readonly is_required: boolean;
}

export interface Option {
  readonly value: JsonValue;
  readonly label: string;
}

export interface Branch {
  readonly label: string;
  readonly schema: JsonValue;
}

export type TextInput = "line" | "lines" | "email" | "url" | "date" | "time" | "datetime";

export function fieldOf(root: Schema, given: JsonValue | undefined): Field {
  if (given === false) return { kind: "raw", why: "The schema allows nothing here.", limits: [] };
  const schema = resolved(root, given);
  if (schema === undefined) {
    return { kind: "raw", why: "The form cannot show this schema.", limits: [] };
  }
  return { ...wordsOf(schema), ...kindOf(root, schema) };
}

type Kind = Field extends infer Each
  ? Each extends Field
    ? Omit<Each, keyof FieldWords>
    : never
  : never;

function kindOf(root: Schema, schema: Schema): Kind {
  if (schema["const"] !== undefined) return { kind: "fixed", value: schema["const"] };
  const options = optionsOf(root, schema);
  if (options !== undefined) return { kind: "one_of", options };
  const branches = branchesOf(root, schema);
  if (branches !== undefined) return { kind: "branches", branches };
  switch (typeOf(schema) ?? "any") {
    case "object":
      return objectKind(schema);
    case "array":
      return arrayKind(root, schema);
    case "string":
      return { kind: "text", input: textInput(schema) };
    case "integer":
      return { kind: "number", is_integer: true };
    case "number":
      return { kind: "number", is_integer: false };
    case "boolean":
      return { kind: "yes_no" };
    case "null":
      return { kind: "fixed", value: null };
    default:
      return { kind: "raw", why: "Any JSON value is allowed here." };
  }
}

/** Omitted by many authors where the rest says it. */
export function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === "string") return type;
  if (isJsonObject(schema["properties"])) return "object";
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array";
  if (schema["minLength"] !== undefined || schema["pattern"] !== undefined) return "string";
  return undefined;
}

function objectKind(schema: Schema): Kind {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = isJsonObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const unnamed = required.filter(
    (name): name is string => typeof name === "string" && properties.every(([own]) => own !== name),
  );
  return {
    kind: "object",
    properties: [
      ...properties.map(([name, own]) => ({
        name,
        schema: own ?? true,
        is_required: required.includes(name),
      })),
      ...unnamed.map((name) => ({ name, schema: true, is_required: true })),
    ],
    extras:
      schema["additionalProperties"] === false && schema["patternProperties"] === undefined
        ? "none"
        : "any",
  };
}

function arrayKind(root: Schema, schema: Schema): Kind {
  if (schema["prefixItems"] !== undefined || Array.isArray(schema["items"])) {
    return { kind: "raw", why: "A list with a type for each position." };
  }
  const items = schema["items"] ?? true;
  const own = resolved(root, items);
  const options = own && optionsOf(root, own);
  if (options !== undefined && schema["uniqueItems"] === true) {
    return { kind: "choices", options };
  }
  return {
    kind: "list",
    items,
    fewest: count(schema["minItems"]) ?? 0,
    most: count(schema["maxItems"]),
  };
}

/** `enum`, or branches of which each is one value: titles of values are written that way. */
function optionsOf(root: Schema, schema: Schema): Option[] | undefined {
  const names = schema["enumNames"];
  if (Array.isArray(schema["enum"])) {
    return schema["enum"].map((value, index) => {
      const name = Array.isArray(names) ? names[index] : undefined;
      return { value, label: typeof name === "string" ? name : labelOf(value) };
    });
  }
  const alternatives = alternativesOf(schema);
  if (alternatives === undefined || alternatives.length === 0) return undefined;
  const options: Option[] = [];
  for (const alternative of alternatives) {
    const own = resolved(root, alternative);
    const value = own?.["const"];
    if (own === undefined || value === undefined) return undefined;
    options.push({
      value,
      label: typeof own["title"] === "string" ? own["title"] : labelOf(value),
    });
  }
  return options;
}

function labelOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function alternativesOf(schema: Schema): readonly JsonValue[] | undefined {
  const given = schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(given) ? given : undefined;
}

function branchesOf(root: Schema, schema: Schema): Branch[] | undefined {
  const { oneOf, anyOf, ...beside } = schema;
  const alternatives = alternativesOf(schema);
  if (alternatives !== undefined) {
    // Both at once, or none to choose from: only JSON can say that.
    if ((oneOf !== undefined && anyOf !== undefined) || alternatives.length === 0) return undefined;
    const { title: _, description: __, default: ___, ...shared } = beside;
    return alternatives.map((alternative, index) => {
      const own: JsonValue =
        Object.keys(shared).length === 0 ? alternative : { allOf: [shared, alternative] };
      return { label: branchLabel(root, alternative, index), schema: own };
    });
  }
  const { type } = schema;
  if (!Array.isArray(type)) return undefined;
  return type.map((one) => ({ label: labelOf(one), schema: { ...schema, type: one } }));
}

function branchLabel(root: Schema, schema: JsonValue, index: number): string {
  const own = resolved(root, schema);
  if (own === undefined) return `Form ${index + 1}`;
  if (typeof own["title"] === "string") return own["title"];
  if (own["const"] !== undefined) return labelOf(own["const"]);
  const properties = isJsonObject(own["properties"]) ? Object.entries(own["properties"]) : [];
  const tag = properties.find(([, value]) => isJsonObject(value) && value["const"] !== undefined);
  if (tag !== undefined && isJsonObject(tag[1]))
    return `${tag[0]}: ${labelOf(tag[1]["const"] ?? null)}`;
  const required = Array.isArray(own["required"]) ? own["required"].map(String) : [];
  if (required.length > 0) return `with ${required.join(", ")}`;
  return typeOf(own) ?? `Form ${index + 1}`;
}

const INPUTS: ReadonlyMap<unknown, TextInput> = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["time", "time"],
  ["date-time", "datetime"],
]);
const LONG_TEXT = 200;

/** A format or a pattern is a name of some sort; everything else may be long. */
function textInput({ format, pattern, maxLength }: Schema): TextInput {
  const isName = format !== undefined || pattern !== undefined;
  const isShort = (count(maxLength) ?? Number.POSITIVE_INFINITY) <= LONG_TEXT;
  return INPUTS.get(format) ?? (isName || isShort ? "line" : "lines");
}

function count(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function wordsOf(schema: Schema): FieldWords {
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
