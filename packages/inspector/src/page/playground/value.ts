// The value behind a form: what it begins with, what an added part begins with, and what the schema has against it as
// far as the form can tell. Wrong values are kept as they are: the user may send them on purpose.

import type { JsonValue } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import { isJsonObject, sameJson } from "@soong/schema";
import { errorText } from "../api/client.ts";
import { findBranch, readField, type Field, type Option } from "./field.ts";
import { resolveSchema, type Schema } from "./schema.ts";

const DEEPEST_START = 4;

/** Undefined: omitted until the user fills it in. */
export function startValue(
  root: Schema,
  schema: JsonValue | undefined,
  depth = 0,
): JsonValue | undefined {
  const field = readField(root, schema);
  if (field.default !== undefined) return field.default;
  if (field.kind === "fixed") return field.value;
  if (field.kind === "list" && depth === 0) return [];
  if (field.kind !== "object" || depth > DEEPEST_START) return undefined;
  return Object.fromEntries(
    field.properties.flatMap(({ name, schema: own, is_required }) => {
      const value = is_required ? startValue(root, own, depth + 1) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The first value of a place that the user has just added. */
export function addedValue(root: Schema, schema: JsonValue | undefined): JsonValue {
  const field = readField(root, schema);
  const first = startValue(root, schema) ?? FIRST_VALUES[field.kind];
  if (first !== undefined) return first;
  if (field.kind === "one_of") return field.options[0]?.value ?? null;
  const inner = field.kind === "branches" ? field.branches[0]?.schema : undefined;
  // A branch that leads to itself has no first value.
  const isEndless = inner === undefined || readField(root, inner).kind === "branches";
  return isEndless ? null : addedValue(root, inner);
}

const FIRST_VALUES: Partial<Record<Field["kind"], JsonValue>> = {
  choices: [],
  text: "",
  number: 0,
  yes_no: false,
};

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

export function findProblems(
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
    const field = readField(root, schema);
    const wrong = misfit(field, value);
    const text = wrong ?? brokenLimit(resolveSchema(root, schema) ?? {}, value);
    if (text !== undefined) found.push({ at, text });
    if (wrong !== undefined) return;
    if (field.kind === "object" && isJsonObject(value)) {
      const unknown = new Set(Object.keys(value));
      for (const { name, schema: own, is_required } of field.properties) {
        const place = `${at}/${pointerStep(name)}`;
        const inner = unknown.delete(name) ? value[name] : undefined;
        if (inner === undefined && is_required) {
          found.push({ at: place, text: "is required", is_missing: true });
        }
        look(own, inner, place, depth + 1);
      }
      for (const name of field.extras === "none" ? unknown : []) {
        found.push({ at: `${at}/${pointerStep(name)}`, text: "is not in the schema" });
      }
    } else if (field.kind === "list" && Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        look(field.items, item, `${at}/${index}`, depth + 1);
      }
    } else if (field.kind === "branches") {
      look(field.branches[findBranch(root, field.branches, value)]?.schema, value, at, depth + 1);
    }
  }
}

function misfit(field: Field, value: JsonValue): string | undefined {
  const unless = (fits: boolean, wrong: string) => (fits ? undefined : wrong);
  switch (field.kind) {
    case "object":
      return unless(isJsonObject(value), "is not an object");
    case "list":
      return unless(Array.isArray(value), "is not a list");
    case "choices":
      if (!Array.isArray(value)) return "is not a list";
      return unless(
        value.every((one) => isOption(field.options, one)),
        "has an entry that cannot be chosen",
      );
    case "one_of":
      return unless(isOption(field.options, value), "cannot be chosen");
    case "text":
      return unless(typeof value === "string", "is not text");
    case "number":
      if (typeof value !== "number") return "is not a number";
      return unless(!field.is_integer || Number.isInteger(value), "is not a whole number");
    case "yes_no":
      return unless(typeof value === "boolean", "is not true or false");
    case "fixed":
      return unless(sameJson(value, field.value), `is not ${JSON.stringify(field.value)}`);
    case "branches":
    case "raw":
      return undefined;
  }
}

function isOption(options: readonly Option[], value: JsonValue): boolean {
  return options.some((option) => sameJson(option.value, value));
}

/** Patterns are left to the validation of the call: one from a server could block this page. */
function brokenLimit(schema: Schema, value: JsonValue): string | undefined {
  const limit = (name: string) => (typeof schema[name] === "number" ? schema[name] : Number.NaN);
  if (typeof value === "number") {
    const [above, below] = [limit("exclusiveMinimum"), limit("exclusiveMaximum")];
    const broken = outside(value, limit("minimum"), limit("maximum"), "");
    if (broken !== undefined) return broken;
    if (value <= above) return `is not more than ${above}`;
    return value >= below ? `is not less than ${below}` : undefined;
  }
  if (Array.isArray(value)) {
    return outside(value.length, limit("minItems"), limit("maxItems"), " entries");
  }
  if (typeof value !== "string") return undefined;
  const format = FORMATS.get(schema["format"]);
  const length = Array.from(value).length;
  return (
    outside(length, limit("minLength"), limit("maxLength"), " characters") ??
    (format?.fits(value) === false ? format.wrong : undefined)
  );
}

function outside(size: number, least: number, most: number, unit: string): string | undefined {
  if (size < least) return `is less than ${least}${unit}`;
  return size > most ? `is more than ${most}${unit}` : undefined;
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
    return { ok: false, problem: `This is not JSON: ${errorText(error)}` };
  }
}
