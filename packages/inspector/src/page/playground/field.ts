// What kind of field a schema asks for. Pure: the form draws what this says, and anything else is `raw`, which
// is edited as JSON.

import type { JsonValue } from "@soong/core";
import { isJsonObject, sameJson } from "@soong/schema";
import { resolveSchema, type Schema } from "./schema.ts";

/** What a schema says of a value in words. */
interface FieldWords {
  readonly title?: string;
  readonly description?: string;
  /** Limits in words: `at least 1`, `up to 20 characters`. */
  readonly limits: readonly string[];
  readonly default?: JsonValue;
}

type FieldKind =
  | { kind: "object"; properties: readonly Property[]; extras: "none" | "any" }
  | { kind: "list"; items: JsonValue }
  /** A list in which each of some values is, or is not. */
  | { kind: "choices"; options: readonly Option[] }
  | { kind: "one_of"; options: readonly Option[] }
  | { kind: "branches"; branches: readonly Branch[] }
  | { kind: "text"; input: TextKind }
  | { kind: "number"; is_integer: boolean }
  | { kind: "yes_no" }
  | { kind: "fixed"; value: JsonValue }
  | { kind: "raw"; why: string };

export type Field = FieldWords & FieldKind;

interface Property {
  readonly name: string;
  readonly schema: JsonValue;
  readonly is_required: boolean;
}

export interface Option {
  readonly value: JsonValue;
  readonly label: string;
}

interface Branch {
  readonly label: string;
  readonly schema: JsonValue;
}

export type TextKind = "line" | "lines" | "email" | "url" | "date" | "time" | "datetime";

export function readField(root: Schema, given: JsonValue | undefined): Field {
  if (given === false) return { kind: "raw", why: "The schema allows nothing here.", limits: [] };
  const schema = resolveSchema(root, given);
  if (schema === undefined) {
    return { kind: "raw", why: "The form cannot show this schema.", limits: [] };
  }
  const { title, description, default: fallback } = schema;
  return {
    title: typeof title === "string" ? title : undefined,
    description: typeof description === "string" ? description : undefined,
    default: fallback,
    limits: describeLimits(schema),
    ...readKind(root, schema),
  };
}

function readKind(root: Schema, schema: Schema): FieldKind {
  if (schema["const"] !== undefined) return { kind: "fixed", value: schema["const"] };
  const options = readOptions(root, schema);
  if (options !== undefined) return { kind: "one_of", options };
  const branches = readBranches(root, schema);
  if (branches !== undefined) return { kind: "branches", branches };
  const type = readType(schema);
  switch (type) {
    case "object":
      return objectKind(schema);
    case "array":
      return arrayKind(root, schema);
    case "string":
      return { kind: "text", input: textKind(schema) };
    case "integer":
    case "number":
      return { kind: "number", is_integer: type === "integer" };
    case "boolean":
      return { kind: "yes_no" };
    case "null":
      return { kind: "fixed", value: null };
    default:
      return { kind: "raw", why: "Any JSON value is allowed here." };
  }
}

/** Omitted by many authors where the rest says it. */
function readType(schema: Schema): string | undefined {
  const has = (...names: string[]) => names.some((name) => schema[name] !== undefined);
  if (typeof schema["type"] === "string") return schema["type"];
  if (isJsonObject(schema["properties"])) return "object";
  if (has("items", "prefixItems")) return "array";
  return has("minLength", "pattern") ? "string" : undefined;
}

function readProperties({ properties }: Schema): [name: string, schema: JsonValue][] {
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  return named.map(([name, own]) => [name, own ?? true]);
}

function readRequired({ required }: Schema): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function objectKind(schema: Schema): FieldKind {
  const required = readRequired(schema);
  const named = new Map(readProperties(schema));
  for (const name of required) if (!named.has(name)) named.set(name, true);
  const isClosed =
    schema["additionalProperties"] === false && schema["patternProperties"] === undefined;
  return {
    kind: "object",
    properties: Array.from(named, ([name, own]) => ({
      name,
      schema: own,
      is_required: required.includes(name),
    })),
    extras: isClosed ? "none" : "any",
  };
}

function arrayKind(root: Schema, schema: Schema): FieldKind {
  const { items = true, prefixItems, uniqueItems } = schema;
  if (prefixItems !== undefined || Array.isArray(items)) {
    return { kind: "raw", why: "A list with a type for each position." };
  }
  const own = resolveSchema(root, items);
  const options = own && readOptions(root, own);
  return options !== undefined && uniqueItems === true
    ? { kind: "choices", options }
    : { kind: "list", items };
}

/** `enum`, or branches of which each is one value: titles of values are written that way. */
function readOptions(root: Schema, schema: Schema): Option[] | undefined {
  const { enum: values, enumNames: names } = schema;
  const option = (value: JsonValue, name: JsonValue | undefined): Option => ({
    value,
    label: typeof name === "string" ? name : labelValue(value),
  });
  if (Array.isArray(values)) {
    return values.map((value, at) => option(value, Array.isArray(names) ? names[at] : undefined));
  }
  const alternatives = readAlternatives(schema) ?? [];
  const options = alternatives.flatMap((alternative) => {
    const own = resolveSchema(root, alternative);
    return own?.["const"] === undefined ? [] : [option(own["const"], own["title"])];
  });
  return options.length > 0 && options.length === alternatives.length ? options : undefined;
}

function labelValue(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readAlternatives(schema: Schema): readonly JsonValue[] | undefined {
  const given = schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(given) ? given : undefined;
}

function readBranches(root: Schema, schema: Schema): Branch[] | undefined {
  const { oneOf, anyOf, title: _, description: __, default: ___, ...shared } = schema;
  const alternatives = readAlternatives(schema);
  if (alternatives === undefined) {
    const { type } = schema;
    if (!Array.isArray(type)) return undefined;
    return type.map((one) => ({ label: labelValue(one), schema: { ...schema, type: one } }));
  }
  // Both at once, or none to choose from: only JSON can say that.
  if ((oneOf !== undefined && anyOf !== undefined) || alternatives.length === 0) return undefined;
  return alternatives.map((alternative, index) => ({
    label: branchLabel(resolveSchema(root, alternative) ?? {}) ?? `Form ${index + 1}`,
    schema: Object.keys(shared).length === 0 ? alternative : { allOf: [shared, alternative] },
  }));
}

function branchLabel(schema: Schema): string | undefined {
  if (typeof schema["title"] === "string") return schema["title"];
  if (schema["const"] !== undefined) return labelValue(schema["const"]);
  for (const [name, own] of readProperties(schema)) {
    const tag = isJsonObject(own) ? own["const"] : undefined;
    if (tag !== undefined) return `${name}: ${labelValue(tag)}`;
  }
  const required = readRequired(schema);
  return required.length > 0 ? `with ${required.join(", ")}` : readType(schema);
}

const INPUTS: ReadonlyMap<unknown, TextKind> = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["time", "time"],
  ["date-time", "datetime"],
]);
const LONG_TEXT = 200;

/** A format or a pattern is a name of some sort; everything else may be long. */
function textKind({ format, pattern, maxLength }: Schema): TextKind {
  const isName = format !== undefined || pattern !== undefined;
  const isShort = typeof maxLength === "number" && maxLength >= 0 && maxLength <= LONG_TEXT;
  return INPUTS.get(format) ?? (isName || isShort ? "line" : "lines");
}

const LIMITS: readonly (readonly [keyword: string, words: string, one?: string, many?: string])[] =
  [
    ["minimum", "at least"],
    ["exclusiveMinimum", "more than"],
    ["maximum", "at most"],
    ["exclusiveMaximum", "less than"],
    ["multipleOf", "a multiple of"],
    ["minLength", "at least", " character", " characters"],
    ["maxLength", "at most", " character", " characters"],
    ["pattern", "matching"],
    ["format", "format"],
    ["minItems", "at least", " entry", " entries"],
    ["maxItems", "at most", " entry", " entries"],
    ["minProperties", "at least", " property", " properties"],
    ["maxProperties", "at most", " property", " properties"],
  ];

function describeLimits(schema: Schema): string[] {
  return LIMITS.flatMap(([keyword, words, one = "", many = ""]) => {
    const limit = schema[keyword];
    if (typeof limit !== "number" && typeof limit !== "string") return [];
    return [`${words} ${limit}${limit === 1 ? one : many}`];
  });
}

/** The branch that a value is of, as far as its shape tells; the first otherwise. */
export function findBranch(root: Schema, branches: readonly Branch[], value: JsonValue): number {
  const scores = branches.map(({ schema }) => likeness(root, schema, value, 0));
  return scores.indexOf(Math.max(...scores));
}

const DEEPEST = 4;

function likeness(root: Schema, given: JsonValue, value: JsonValue, depth: number): number {
  const schema = resolveSchema(root, given);
  if (schema === undefined || depth > DEEPEST) return 0;
  if (schema["const"] !== undefined) return sameJson(schema["const"], value) ? 10 : -10;
  if (Array.isArray(schema["enum"])) {
    return schema["enum"].some((one) => sameJson(one, value)) ? 5 : -5;
  }
  const type = readType(schema);
  if (type !== undefined && !isOfType(type, value)) return -5;
  if (!isJsonObject(value)) return type === undefined ? 0 : 2;
  const properties = new Map(readProperties(schema));
  let score = 1;
  for (const name of readRequired(schema)) score += Object.hasOwn(value, name) ? 1 : -1;
  for (const [name, own] of Object.entries(value)) {
    const property = properties.get(name);
    if (property === undefined || own === undefined) score -= 1;
    else score += 1 + likeness(root, property, own, depth + 1);
  }
  return score;
}

function isOfType(type: string, value: JsonValue): boolean {
  if (type === "integer") return Number.isInteger(value);
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return own === type;
}
