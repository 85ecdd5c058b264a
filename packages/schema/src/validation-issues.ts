// What was wrong with a value, field by field: what was expected there and what came, in words a model
// can act on at once (SCHEMA-4). Values of sensitive fields are never quoted.

import type { ErrorObject } from "ajv/dist/2020.js";
import {
  describeCount,
  describeExpected,
  describeSchema,
  listValues,
  quoteValue,
} from "./describe-schema.ts";
import { pointerTokens, asRecord, isRecord, type JsonSchema } from "./json.ts";
import { nearestName } from "./nearest-name.ts";
import { isSensitive, type SensitivePath } from "./sensitive-paths.ts";
import { shorten } from "./text.ts";
import { settleUnions, UNION } from "./union-issues.ts";

export type ValidationIssue = {
  /** "edits[0].old"; "" is the whole value. */
  path: string;
  /** "string", "one of \"a\", \"b\"", "at most 10 items". */
  expected: string;
  /** "number 5", "missing", "array of 3 items"; at most about 80 characters. */
  received: string;
  message: string;
};

const MAX_ISSUES = 100;

/** `errors` are verbose: each carries the schema node that raised it. */
export function toIssues(
  errors: readonly ErrorObject[],
  value: unknown,
  hidden: readonly SensitivePath[],
): ValidationIssue[] {
  const issues = new Map<string, ValidationIssue>();
  for (const error of settleUnions(errors)) {
    const issue = toIssue(error, value, hidden);
    if (issue !== undefined) issues.set(`${issue.path}\n${issue.message}`, issue);
    if (issues.size >= MAX_ISSUES) break;
  }
  if (issues.size > 0) return [...issues.values()];
  const expected = "a value that fits the schema";
  return [{ path: "", expected, received: describeValue(value), message: `expected ${expected}` }];
}

function toIssue(
  { instancePath, keyword, params, parentSchema, propertyName }: ErrorObject,
  value: unknown,
  hidden: readonly SensitivePath[],
): ValidationIssue | undefined {
  const place = pointerTokens(instancePath);
  const issueAt = (
    field: readonly string[],
    expected: string,
    received: string,
    message: string,
  ): ValidationIssue => ({
    path: pathText(value, [...place, ...field]),
    expected,
    received,
    message,
  });
  const given = valueAtPlace(value, place);
  const shown = isSensitive(hidden, place) ? `${typeName(given)} (hidden)` : describeValue(given);
  const plain = (expected: string, hint = "", got = shown): ValidationIssue =>
    issueAt([], expected, got, `expected ${expected}, got ${got}${hint && `: ${hint}`}`);

  if (propertyName !== undefined) {
    const name = quoteValue(propertyName);
    return plain("a permitted field name", `the name ${name} does not fit`, `field ${name}`);
  }
  const properties = asRecord(asRecord(parentSchema).properties);
  switch (keyword) {
    case UNION:
      return plain(String(params.expected), String(params.hint));
    case "if":
    case "propertyNames":
      return undefined;
    case "required":
    case "dependentRequired": {
      const missing = String(params.missingProperty);
      const field = Object.hasOwn(properties, missing) ? properties[missing] : undefined;
      const expected = describeSchema(field);
      const because =
        keyword === "dependentRequired" ? ` when ${quoteValue(params.property)} is given` : "";
      const message = `required${because}, but missing; expected ${expected}`;
      return issueAt([missing], expected, "missing", message);
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = Object.keys(properties);
      // Both come from outside, and every pair of letters is compared.
      const near = name.length > 100 ? undefined : nearestName(name, known.slice(0, 200));
      const fields = known.length > 0 ? `; known fields: ${listValues(known)}` : "";
      const help = near === undefined ? fields : `; did you mean ${quoteValue(near)}?`;
      const received = `field ${quoteValue(name)}`;
      return issueAt([name], "no such field", received, `unknown field${help}`);
    }
    case "uniqueItems":
      return plain("items that all differ", "", `equal items ${params.first} and ${params.second}`);
    default:
      return plain(describeExpected(keyword, params));
  }
}

function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `array of ${describeCount(value.length, "item")}`;
  if (isRecord(value)) return `object with ${describeCount(Object.keys(value).length, "field")}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  if (typeof value !== "string") return typeof value;
  return value.length > 40
    ? `string ${JSON.stringify(`${value.slice(0, 37)}…`)} of ${value.length} characters`
    : `string ${JSON.stringify(value)}`;
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "array" : typeof value;
}

/** "a.b[0]["odd key"]": indexes where the value holds arrays, names elsewhere. */
function pathText(value: unknown, place: readonly string[]): string {
  let text = "";
  let current = value;
  for (const token of place) {
    if (Array.isArray(current)) text += `[${token}]`;
    else if (/^[A-Za-z_$][\w$-]{0,99}$/.test(token)) text += text === "" ? token : `.${token}`;
    else text += `[${quoteValue(token)}]`;
    current = valueAtPlace(current, [token]);
  }
  return shorten(text, 300);
}

function valueAtPlace(value: unknown, place: readonly string[]): unknown {
  let current = value;
  for (const token of place) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, token)) {
      return undefined;
    }
    current = (current as Record<string, unknown>)[token];
  }
  return current;
}

const MAX_SHOWN = 20;
const MAX_FIELDS_TEXT = 600;

/**
 * The one text a model gets for arguments that do not fit. With the (lowered) schema the fields are named too, so that
 * one turn is enough to correct the call.
 */
export function formatIssues(
  toolName: string,
  issues: readonly ValidationIssue[],
  schema?: JsonSchema,
): string {
  const lines = [`The arguments for ${toolName} do not fit its schema:`];
  for (const { path, message } of issues.slice(0, MAX_SHOWN)) {
    lines.push(`- ${path === "" ? "the arguments" : path}: ${message}`);
  }
  if (issues.length > MAX_SHOWN) lines.push(`- and ${issues.length - MAX_SHOWN} more`);
  const fields = listFields(schema);
  if (fields !== "") lines.push(`Fields: ${fields}`);
  return lines.join("\n");
}

function listFields({ properties, required }: JsonSchema = {}): string {
  let text = "";
  for (const [name, field] of Object.entries(asRecord(properties))) {
    const mark = Array.isArray(required) && required.includes(name) ? ", required" : "";
    const next = `${text}${text === "" ? "" : "; "}${name} (${describeSchema(field)}${mark})`;
    if (next.length > MAX_FIELDS_TEXT) return `${text}; …`;
    text = next;
  }
  return text;
}
