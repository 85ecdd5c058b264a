// Older and neighbouring dialects, one node at a time: drafts 4 to 7, OpenAPI 3.0 and what real servers
// print. The answer means the same in draft 2020-12; a node that needs nothing is answered as it is.

import { isRecord, type JsonSchema } from "./json.ts";
import { wordSet } from "./text.ts";

export function modernNode(node: JsonSchema): JsonSchema {
  const names = Object.keys(node);
  if (!names.some((name) => isOld(name, node[name]) || isAbsent(name, node[name]))) return node;
  const modern: Record<string, unknown> = {};
  for (const name of names) {
    if (!isAbsent(name, node[name])) modern[name] = node[name];
  }
  nullableIntoType(modern);
  booleanLimit(modern, "exclusiveMinimum", "minimum");
  booleanLimit(modern, "exclusiveMaximum", "maximum");
  tupleIntoPrefix(modern);
  splitDependencies(modern);
  if (modern.$recursiveRef !== undefined || modern.$dynamicRef !== undefined) staticRef(modern);
  return modern;
}

const OLD = wordSet("nullable additionalItems dependencies $recursiveRef $dynamicRef");

function isOld(name: string, value: unknown): boolean {
  if (name === "items") return Array.isArray(value);
  const isLimit = name === "exclusiveMinimum" || name === "exclusiveMaximum";
  return isLimit ? typeof value === "boolean" : OLD.has(name);
}

/** Go and Python servers print `"required": null` for "none": a keyword that is null is not there. */
function isAbsent(name: string, value: unknown): boolean {
  return value === undefined || (value === null && name !== "const" && name !== "default");
}

/** OpenAPI 3.0 gives `nullable` a meaning only beside `type`. */
function nullableIntoType(node: Record<string, unknown>): void {
  if (typeof node.nullable !== "boolean") return;
  if (node.nullable && node.type !== undefined) {
    const types: unknown[] = Array.isArray(node.type) ? node.type : [node.type];
    node.type = types.includes("null") ? types : [...types, "null"];
  }
  delete node.nullable;
}

/** Draft 4: `exclusiveMinimum: true` turned `minimum` itself exclusive. */
function booleanLimit(node: Record<string, unknown>, exclusive: string, limit: string): void {
  if (typeof node[exclusive] !== "boolean") return;
  if (node[exclusive] && typeof node[limit] === "number") {
    node[exclusive] = node[limit];
    delete node[limit];
  } else {
    delete node[exclusive];
  }
}

function tupleIntoPrefix(node: Record<string, unknown>): void {
  if (Array.isArray(node.items)) {
    if (node.items.length > 0) node.prefixItems = node.items;
    if (node.additionalItems === undefined) delete node.items;
    else node.items = node.additionalItems;
  }
  // Without a tuple before it, `additionalItems` never meant anything.
  delete node.additionalItems;
}

function splitDependencies(node: Record<string, unknown>): void {
  if (!isRecord(node.dependencies)) return;
  const required: Record<string, unknown> = {};
  const schemas: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node.dependencies)) {
    if (Array.isArray(value)) required[key] = value;
    else schemas[key] = value;
  }
  delete node.dependencies;
  if (Object.keys(required).length > 0) node.dependentRequired ??= required;
  if (Object.keys(schemas).length > 0) node.dependentSchemas ??= schemas;
}

/** In one document read alone a dynamic reference leads where a plain one does. */
function staticRef(node: Record<string, unknown>): void {
  node.$ref ??= node.$dynamicRef ?? node.$recursiveRef;
  delete node.$dynamicRef;
  delete node.$recursiveRef;
}
