// Which of several forms a value that is already there has.

import type { JsonValue } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { typeOf, type Branch } from "./field.ts";
import { equal, resolved, type Schema } from "./schema.ts";

/** The branch that a value is of, as far as its shape tells; the first otherwise. */
export function branchOf(root: Schema, branches: readonly Branch[], value: JsonValue): number {
  const scores = branches.map(({ schema }) => likeness(root, schema, value, 0));
  return scores.indexOf(Math.max(...scores));
}

const DEEPEST = 4;

function likeness(root: Schema, given: JsonValue, value: JsonValue, depth: number): number {
  const schema = resolved(root, given);
  if (schema === undefined || depth > DEEPEST) return 0;
  if (schema["const"] !== undefined) return equal(schema["const"], value) ? 10 : -10;
  if (Array.isArray(schema["enum"])) {
    return schema["enum"].some((one) => equal(one, value)) ? 5 : -5;
  }
  const type = typeOf(schema);
  if (type !== undefined && !isOfType(type, value)) return -5;
  if (!isJsonObject(value)) return type === undefined ? 0 : 2;
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  let score = 1;
  for (const name of required) score += Object.hasOwn(value, name) ? 1 : -1;
  for (const [name, own] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || own === undefined) score -= 1;
    else score += 1 + likeness(root, property, own, depth + 1);
  }
  return score;
}

function isOfType(type: string, value: JsonValue): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
