// The words checks of a document are written in: what a value may be, told of every value that is not, with
// the place. A check reports and goes on, so that all mistakes are told at once.

import { nearestName } from "@soong/core";
import { shortened, type FieldPath } from "./document-problem.ts";
import { controlCharacter } from "./plain-text.ts";

export type Report = (path: FieldPath, message: string, of?: "key" | "value") => void;
export type FieldCheck = (value: unknown, path: FieldPath, report: Report) => void;
type Fields = Readonly<Record<string, FieldCheck>>;

/** A mapping of these fields and no others. `whole` looks at how they go together. */
export function mapping(
  what: string,
  fields: Fields,
  whole: (
    value: Readonly<Record<string, unknown>>,
    path: FieldPath,
    report: Report,
  ) => void = () => {},
): FieldCheck {
  return (value, path, report) => {
    if (!isMapping(value)) {
      report(path, `is ${kindOf(value)}; ${what} is a mapping of ${listed(Object.keys(fields))}`);
      return;
    }
    for (const [key, field] of Object.entries(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (check !== undefined) check(field, [...path, key], report);
      else report([...path, key], unknownField(key, what, Object.keys(fields)), "key");
    }
    whole(value, path, report);
  };
}

function unknownField(key: string, what: string, known: readonly string[]): string {
  const meant = nearestName(shortened(key, 60), known);
  const hint = meant === undefined ? `it has ${listed(known)}` : `did you mean "${meant}"?`;
  return `is not a field of ${what}; ${hint}`;
}

export function listOf(what: string, item: FieldCheck): FieldCheck {
  return (value, path, report) => {
    if (!Array.isArray(value)) {
      report(path, `is ${kindOf(value)}; a list of ${what} is expected`);
      return;
    }
    for (const [index, entry] of value.entries()) item(entry, [...path, index], report);
  };
}

export const text: FieldCheck = (value, path, report) => {
  if (typeof value !== "string")
    report(path, `is ${kindOf(value)}; text is expected${quoting(value)}`);
};

export const nonEmptyText: FieldCheck = (value, path, report) => {
  if (value === "") report(path, "is empty");
  else text(value, path, report);
};

/** Not empty, no longer than this, and without control characters, which YAML can spell out. */
export function textUpTo(mostChars: number): FieldCheck {
  return (value, path, report) => {
    nonEmptyText(value, path, report);
    if (typeof value !== "string") return;
    const control = controlCharacter(value);
    if (value.length > mostChars) {
      report(path, `has ${value.length} characters; ${mostChars} are the most`);
    } else if (control !== undefined) {
      report(path, `holds the control character ${control.name}; take it out`);
    }
  };
}

export function oneOf(words: readonly string[]): FieldCheck {
  return (value, path, report) => {
    if (typeof value === "string" && words.includes(value)) return;
    const given = typeof value === "string" ? JSON.stringify(shortened(value, 60)) : kindOf(value);
    const meant = typeof value === "string" ? nearestName(shortened(value, 60), words) : undefined;
    const hint = meant === undefined ? `it is one of ${listed(words)}` : `did you mean "${meant}"?`;
    report(path, `is ${given}; ${hint}`);
  };
}

export function wholeNumber(most: number): FieldCheck {
  return (value, path, report) => {
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most) return;
    report(path, `is ${kindOf(value)}; a whole number from 0 to ${most} is expected`);
  };
}

/** Fields of which a thing has exactly one, such as what a part is. */
export function exactlyOne(
  value: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): string | undefined {
  const present = fields.filter((field) => Object.hasOwn(value, field));
  if (present.length === 1) return undefined;
  if (present.length === 0) return `has none of ${listed(fields)}; it needs one`;
  return `has ${present.join(" and ")}; it can have only one of them`;
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "text";
}

function quoting(value: unknown): string {
  return typeof value === "number" || typeof value === "boolean" ? ": put it in quotes" : "";
}

function listed(words: readonly string[]): string {
  return words.join(", ");
}
