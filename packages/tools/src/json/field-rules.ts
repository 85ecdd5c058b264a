// The fields of an object in a file, held to a table: which there are, which must be there, what they hold.
// Every problem is found at once, and an unknown field is answered with the one that was probably meant.

import { nearestName, type JsonObject, type JsonValue } from "@soong/core";
import { problemAt, problemAtKey, type FileProblem } from "./file-problem.ts";
import type { JsonDocument, JsonPath } from "./parse-json.ts";

/** Reports what is wrong at a path within the field. */
export type FieldCheck = (
  value: JsonValue,
  report: (path: JsonPath, message: string) => void,
) => void;

export type FieldRules = ReadonlyMap<string, { readonly required: boolean; check: FieldCheck }>;

/** Problems of the object at `path`. */
export function fieldProblems(
  file: string,
  document: JsonDocument,
  path: JsonPath,
  object: JsonValue,
  rules: FieldRules,
): FileProblem[] {
  if (!isObject(object)) {
    return [problemAt(file, document, path, `is ${kindOf(object)}; an object is expected`)];
  }
  const problems: FileProblem[] = [];
  for (const [field, value] of Object.entries(object)) {
    const at = [...path, field];
    const rule = rules.get(field);
    if (rule === undefined) {
      problems.push(problemAtKey(file, document, at, unknownField(field, [...rules.keys()])));
      continue;
    }
    rule.check(value, (within, message) => {
      problems.push(problemAt(file, document, [...at, ...within], message));
    });
  }
  for (const [field, { required }] of rules) {
    if (!required || Object.hasOwn(object, field)) continue;
    const where = problemAt(file, document, path, "is missing");
    problems.push({
      ...where,
      field: where.field === undefined ? field : `${where.field}.${field}`,
    });
  }
  return problems;
}

function unknownField(field: string, known: readonly string[]): string {
  // A name cut short is as likely as one mistyped.
  const meant = nearestName(field, known) ?? known.find((name) => name.startsWith(`${field}_`));
  return meant === undefined
    ? `is not a field; there are ${known.join(", ")}`
    : `is not a field; did you mean "${meant}"?`;
}

export function nonEmptyText(maxChars: number): FieldCheck {
  return (value, report) => {
    if (typeof value !== "string") report([], `is ${kindOf(value)}; text is expected`);
    else if (value.trim() === "") report([], "is empty");
    else if (value.includes("\0")) report([], "contains a NUL character");
    else if (value.length > maxChars) {
      report([], `has ${value.length} characters; at most ${maxChars} are allowed`);
    }
  };
}

export function oneOf(words: readonly string[]): FieldCheck {
  return (value, report) => {
    if (typeof value === "string" && words.includes(value)) return;
    const meant = typeof value === "string" ? nearestName(value, words) : undefined;
    const given = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : kindOf(value);
    report(
      [],
      meant === undefined
        ? `is ${given}; expected ${words.map((word) => `"${word}"`).join(" or ")}`
        : `is ${given}; did you mean "${meant}"?`,
    );
  };
}

export function wholeNumber(least: number, most: number): FieldCheck {
  return (value, report) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
    const given = typeof value === "number" ? String(value) : kindOf(value);
    report([], `is ${given}; expected a whole number from ${least} to ${most}`);
  };
}

export function listOf(item: FieldCheck, maxItems: number): FieldCheck {
  return (value, report) => {
    if (!Array.isArray(value)) {
      report([], `is ${kindOf(value)}; a list is expected`);
      return;
    }
    if (value.length > maxItems) {
      report([], `has ${value.length} items; at most ${maxItems} are allowed`);
      return;
    }
    for (const [index, entry] of value.entries()) {
      item(entry, (path, message) => report([index, ...path], message));
    }
  };
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : String(value);
}
