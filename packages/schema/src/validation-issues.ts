// What was wrong with a value, field by field: what was expected there and what came, in words a model
// can act on at once (SCHEMA-4). Values of sensitive fields are never quoted.

import type { ErrorObject } from "ajv/dist/2020.js";
import { describeSchema, listValues, quoteValue } from "./describe-schema.ts";
import { count, expectation } from "./expectation.ts";
import { isRecord } from "./json.ts";
import { nearestName } from "./nearest-name.ts";
import { pointerTokens } from "./references.ts";
import { isSensitive, type SensitivePath } from "./sensitive-paths.ts";
import { shorten } from "./text.ts";
import { settleUnions, type Finding } from "./union-issues.ts";

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
  for (const finding of settleUnions(errors)) {
    const issue = toIssue(finding, value, hidden);
    if (issue !== undefined) issues.set(`${issue.path}\n${issue.message}`, issue);
    if (issues.size >= MAX_ISSUES) break;
  }
  if (issues.size > 0) return [...issues.values()];
  const expected = "a value that fits the schema";
  return [{ path: "", expected, received: describeValue(value), message: `expected ${expected}` }];
}

function toIssue(
  finding: Finding,
  value: unknown,
  hidden: readonly SensitivePath[],
): ValidationIssue | undefined {
  const place = pointerTokens(
    finding.kind === "error" ? finding.error.instancePath : finding.instancePath,
  );
  const received = receivedText(value, place, hidden);
  const plain = (expected: string, hint = "", got = received): ValidationIssue => ({
    path: pathText(value, place),
    expected,
    received: got,
    message: `expected ${expected}, got ${got}${hint && `: ${hint}`}`,
  });
  if (finding.kind === "union") return plain(finding.expected, finding.hint);

  const { keyword, params, parentSchema, propertyName } = finding.error;
  if (propertyName !== undefined) {
    const name = quoteValue(propertyName);
    return plain("a permitted field name", `the name ${name} does not fit`, `field ${name}`);
  }
  switch (keyword) {
    case "if":
    case "propertyNames":
      return undefined;
    case "required":
    case "dependentRequired": {
      const missing = String(params.missingProperty);
      const expected = describeSchema(fieldSchema(parentSchema, missing));
      const because =
        keyword === "dependentRequired" ? ` when ${quoteValue(params.property)} is given` : "";
      return {
        path: pathText(value, [...place, missing]),
        expected,
        received: "missing",
        message: `required${because}, but missing; expected ${expected}`,
      };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const known = fieldNames(parentSchema);
      // Both come from outside, and every pair of letters is compared.
      const near = name.length > 100 ? undefined : nearestName(name, known.slice(0, 200));
      const help =
        near !== undefined
          ? `; did you mean ${quoteValue(near)}?`
          : known.length > 0
            ? `; known fields: ${listValues(known)}`
            : "";
      return {
        path: pathText(value, [...place, name]),
        expected: "no such field",
        received: `field ${quoteValue(name)}`,
        message: `unknown field${help}`,
      };
    }
    case "uniqueItems": {
      const { first, second } = params as { first: number; second: number };
      return plain("items that all differ", "", `equal items ${first} and ${second}`);
    }
    default:
      return plain(expectation(keyword, params));
  }
}

function receivedText(
  value: unknown,
  place: readonly string[],
  hidden: readonly SensitivePath[],
): string {
  const received = valueAtPlace(value, place);
  return isSensitive(hidden, place) ? `${typeName(received)} (hidden)` : describeValue(received);
}

function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return `array of ${count(value.length, "item")}`;
  if (typeof value === "string") {
    return value.length > 40
      ? `string ${JSON.stringify(`${value.slice(0, 37)}…`)} of ${value.length} characters`
      : `string ${JSON.stringify(value)}`;
  }
  if (isRecord(value)) return `object with ${count(Object.keys(value).length, "field")}`;
  return typeof value === "number" || typeof value === "boolean"
    ? `${typeof value} ${String(value)}`
    : typeof value;
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

function fieldSchema(node: unknown, name: string): unknown {
  const properties = isRecord(node) ? node.properties : undefined;
  return isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function fieldNames(node: unknown): string[] {
  return isRecord(node) && isRecord(node.properties) ? Object.keys(node.properties) : [];
}
