// A JSON Schema as far as a form needs it: references followed one step at a time (so that a schema may contain
// itself), `allOf` put together where that says the same. What goes further is left to the JSON editor.

import type { JsonObject, JsonValue } from "@soong/core";
import { isJsonObject, sameJson } from "@soong/schema";
import { decodePart } from "../route/hash-route.ts";

export type Schema = JsonObject;

/** More steps than this lead in a circle, or to something no form could show. */
const MOST_STEPS = 500;

/** The schema itself, without `$ref` and `allOf` at its top; undefined where it points nowhere or in a circle. */
export function resolveSchema(root: Schema, schema: JsonValue | undefined): Schema | undefined {
  return resolve(root, schema, { left: MOST_STEPS });
}

function resolve(
  root: Schema,
  schema: JsonValue | undefined,
  steps: { left: number },
): Schema | undefined {
  if (schema === true || schema === undefined) return {};
  steps.left -= 1;
  if (!isJsonObject(schema) || steps.left < 0) return undefined;
  const { $ref: reference, allOf, ...rest } = schema;
  const target = typeof reference === "string" ? [at(root, reference)] : [];
  const beside = Array.isArray(allOf) ? allOf : [];
  if (target.length + beside.length === 0) return rest;
  let whole: Schema | undefined = {};
  for (const part of [...target, rest, ...beside]) {
    const own = part === rest ? rest : resolve(root, part, steps);
    whole = own && mergeSchemas(whole, own);
    if (whole === undefined) return undefined;
  }
  return whole;
}

/** Within the document alone: nothing is ever fetched. */
function at(root: Schema, reference: string): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return findAnchor(root, reference);
  let found: JsonValue | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decodePart(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isJsonObject(found) && !Array.isArray(found)) return false;
    found = Object.hasOwn(found, name) ? (found as JsonObject)[name] : false;
  }
  return found;
}

function findAnchor(root: Schema, reference: string): JsonValue {
  const definitions = root["$defs"];
  if (!reference.startsWith("#") || !isJsonObject(definitions)) return false;
  const isNamed = (schema: JsonValue | undefined) =>
    isJsonObject(schema) && schema["$anchor"] === reference.slice(1);
  return Object.values(definitions).find(isNamed) ?? false;
}

/** Words about a value that do not limit it: the nearer one counts. */
const REMARKS =
  /^(title|description|default|examples|deprecated|readOnly|writeOnly|definitions|\$(comment|schema|id|defs))$/;

/** Both at once, or undefined where that cannot be said in one schema. */
function mergeSchemas(a: Schema, b: Schema): Schema | undefined {
  const result: Record<string, JsonValue> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = result[key];
    if (before === undefined || REMARKS.test(key) || sameJson(before, value)) {
      result[key] = value;
    } else if (key === "required" && Array.isArray(before) && Array.isArray(value)) {
      result[key] = [...new Set([...before, ...value])];
    } else if (key === "properties" && isJsonObject(before) && isJsonObject(value)) {
      result[key] = bothProperties(before, value);
    } else {
      return undefined;
    }
  }
  return result;
}

function bothProperties(a: JsonObject, b: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...a };
  for (const [name, schema] of Object.entries(b)) {
    const before = result[name];
    result[name] = before === undefined ? schema : { allOf: [before, schema] };
  }
  return result;
}
