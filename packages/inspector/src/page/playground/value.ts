// The value behind a form: what it begins with, what an added part begins with, and what the schema has against it as
// far as the form can tell. Wrong values are kept as they are: the user may send them on purpose.

import { errorText } from "../api/client.ts";
import type { JsonValue } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import { isJsonObject } from "@soong/schema";
import { branchOf } from "./branch.ts";
import { fieldOf, type Field } from "./field.ts";
import { equal, resolved, type Schema } from "./schema.ts";

const DEEPEST_START = 4;

/** Undefined: omitted until the user fills it in. */
export function startValue(
  root: Schema,
  schema: JsonValue | undefined,
  depth = 0,
): JsonValue | undefined {
  const field = fieldOf(root, schema);
  if (field.default !== undefined) return field.default;
  switch (field.kind) {
    case "fixed":
      return field.value;
    case "object":
      return depth > DEEPEST_START
        ? undefined
        : Object.fromEntries(
            field.properties.flatMap(({ name, schema: own, is_required }) => {
              const value = is_required ? startValue(root, own, depth + 1) : undefined;
              return value === undefined ? [] : [[name, value]];
            }),
          );
    case "list":
      return depth === 0 ? [] : undefined;
    case "choices":
    case "one_of":
    case "branches":
    case "text":
    case "number":
    case "yes_no":
    case "raw":
      return undefined;
  }
}

/** The first value of a place that the user has just added. */
export function addedValue(root: Schema, schema: JsonValue | undefined): JsonValue {
  const started = startValue(root, schema);
  if (started !== undefined) return started;
  const field = fieldOf(root, schema);
  switch (field.kind) {
    case "object":
      return {};
    case "list":
    case "choices":
      return [];
    case "one_of":
      return field.options[0]?.value ?? null;
    case "branches":
      return addedBranch(root, field.branches[0]?.schema);
    case "text":
      return "";
    case "number":
      return 0;
    case "yes_no":
      return false;
    case "fixed":
      return field.value;
    case "raw":
      return null;
  }
}

/** A branch that leads to itself has no first value. */
function addedBranch(root: Schema, schema: JsonValue | undefined): JsonValue {
  const field = fieldOf(root, schema);
  return field.kind === "branches" ? null : addedValue(root, schema);
}

interface ValueProblem {
  /** JSON pointer. */
  readonly at: string;
  readonly text: string;
  /** Nothing is there, and something must be. */
  readonly is_missing?: true;
}

const MOST_PROBLEMS = 50;
/** A schema may lead to itself without getting anywhere. */
const DEEPEST_LOOK = 64;

export function problemsOf(
  root: Schema,
  schema: JsonValue | undefined,
  value: JsonValue | undefined,
): ValueProblem[] {
  const found: ValueProblem[] = [];
  look(schema, value, "", 0);
  return found;

  function look(
    schema: JsonValue | undefined,
    value: JsonValue | undefined,
    at: string,
    depth: number,
  ): void {
    if (value === undefined || found.length >= MOST_PROBLEMS || depth > DEEPEST_LOOK) return;
    const field = fieldOf(root, schema);
    const wrong = misfit(field, value);
    if (wrong !== undefined) {
      found.push({ at, text: wrong });
      return;
    }
    const broken = brokenLimit(resolved(root, schema) ?? {}, value);
    if (broken !== undefined) found.push({ at, text: broken });
    if (field.kind === "object" && isJsonObject(value)) {
      for (const { name, schema: own, is_required } of field.properties) {
        const place = `${at}/${pointerStep(name)}`;
        const inner = Object.hasOwn(value, name) ? value[name] : undefined;
        if (inner === undefined && is_required) {
          found.push({ at: place, text: "is required", is_missing: true });
        }
        look(own, inner, place, depth + 1);
      }
      if (field.extras === "none") {
        const known = new Set(field.properties.map(({ name }) => name));
        for (const name of Object.keys(value)) {
          if (!known.has(name)) {
            found.push({ at: `${at}/${pointerStep(name)}`, text: "is not in the schema" });
          }
        }
      }
    } else if (field.kind === "list" && Array.isArray(value)) {
      for (const [index, item] of value.entries())
        look(field.items, item, `${at}/${index}`, depth + 1);
    } else if (field.kind === "branches") {
      look(field.branches[branchOf(root, field.branches, value)]?.schema, value, at, depth + 1);
    }
  }
}

function misfit(field: Field, value: JsonValue): string | undefined {
  switch (field.kind) {
    case "object":
      return isJsonObject(value) ? undefined : "is not an object";
    case "list":
    case "choices":
      if (!Array.isArray(value)) return "is not a list";
      return field.kind === "list" || value.every((one) => isOption(field.options, one))
        ? undefined
        : "has an entry that cannot be chosen";
    case "one_of":
      return isOption(field.options, value) ? undefined : "cannot be chosen";
    case "text":
      return typeof value === "string" ? undefined : "is not text";
    case "number":
      if (typeof value !== "number") return "is not a number";
      return field.is_integer && !Number.isInteger(value) ? "is not a whole number" : undefined;
    case "yes_no":
      return typeof value === "boolean" ? undefined : "is not true or false";
    case "fixed":
      return equal(value, field.value) ? undefined : `is not ${JSON.stringify(field.value)}`;
    case "branches":
    case "raw":
      return undefined;
  }
}

function isOption(options: readonly { value: JsonValue }[], value: JsonValue): boolean {
  return options.some((option) => equal(option.value, value));
}

/** Patterns are left to the validation of the call: one from a server could block this page. */
function brokenLimit(schema: Schema, value: JsonValue): string | undefined {
  const limit = (name: string): number | undefined => {
    const given = schema[name];
    return typeof given === "number" ? given : undefined;
  };
  const checks: (readonly [size: number | undefined, least: string, most: string, unit: string])[] =
    [
      [typeof value === "number" ? value : undefined, "minimum", "maximum", ""],
      [
        typeof value === "string" ? Array.from(value).length : undefined,
        "minLength",
        "maxLength",
        " characters",
      ],
      [Array.isArray(value) ? value.length : undefined, "minItems", "maxItems", " entries"],
    ];
  for (const [size, least, most, unit] of checks) {
    const lowest = limit(least);
    const highest = limit(most);
    if (size === undefined) continue;
    if (lowest !== undefined && size < lowest) return `is less than ${lowest}${unit}`;
    if (highest !== undefined && size > highest) return `is more than ${highest}${unit}`;
  }
  if (typeof value === "number") {
    const above = limit("exclusiveMinimum");
    const below = limit("exclusiveMaximum");
    if (above !== undefined && value <= above) return `is not more than ${above}`;
    if (below !== undefined && value >= below) return `is not less than ${below}`;
  }
  return typeof value === "string" ? brokenFormat(schema["format"], value) : undefined;
}

const FORMATS: ReadonlyMap<unknown, { fits: (text: string) => boolean; wrong: string }> = new Map([
  ["email", { fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text), wrong: "is not an e-mail address" }],
  ["uri", { fits: (text) => URL.canParse(text), wrong: "is not a URL" }],
  ["date", { fits: isDate, wrong: "is not a date (YYYY-MM-DD)" }],
  [
    "date-time",
    {
      fits: (text) => isDate(text.slice(0, 10)) && /^[Tt ]\d\d:\d\d:\d\d/.test(text.slice(10)),
      wrong: "is not a date with a time (YYYY-MM-DDThh:mm:ssZ)",
    },
  ],
]);

function brokenFormat(format: JsonValue | undefined, text: string): string | undefined {
  const known = FORMATS.get(format);
  return known === undefined || known.fits(text) ? undefined : known.wrong;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** A text field of numbers: what is no number stays the text it is. */
export function numberOrText(text: string): JsonValue | undefined {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

type ParsedText =
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly problem: string };

/** Nothing at all is a value that is omitted. */
export function parseJsonText(text: string): ParsedText {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return {
      ok: false,
      problem: `This is not JSON: ${errorText(error)}`,
    };
  }
}
