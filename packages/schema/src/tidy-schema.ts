// The last step for a lowered node: the same meaning in fewer and plainer keywords. Everything here
// accepts exactly the values it accepted before.

import {
  asRecord,
  isRecord,
  sameJson,
  typeOfJson,
  type Budget,
  type JsonSchema,
  type JsonType,
  type SchemaNode,
} from "./json.ts";

export type MutableSchema = { [keyword: string]: unknown };

/** Changes the node in place; it must be no one else's yet. */
export function tidySchema(node: MutableSchema, budget: Budget): JsonSchema {
  tidyType(node);
  tidyEnum(node, budget);
  tidyUnevaluated(node);
  tidyFields(node);
  tidyPropertyNames(node, budget);
  tidyTuple(node, budget);
  return node;
}

/** The types a node names; undefined when it names none and so takes all. */
export function listTypes(node: JsonSchema): JsonType[] | undefined {
  if (node.type === undefined) return undefined;
  return (Array.isArray(node.type) ? node.type : [node.type]) as JsonType[];
}

/** Every integer is a number; otherwise types are equal or have nothing in common. */
export function acceptsType(types: readonly JsonType[], type: JsonType): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

/** One type on its own, several as a list; `null` only ever in a list. */
export function asType(types: readonly JsonType[]): unknown {
  const distinct = [...new Set(types)].filter(
    (type) => !(type === "integer" && types.includes("number")),
  );
  return distinct.length === 1 && distinct[0] !== "null" ? distinct[0] : distinct;
}

/** Whether a schema takes every value. */
export function isOpen(node: unknown): boolean {
  return node === undefined || node === true || (isRecord(node) && Object.keys(node).length === 0);
}

function tidyType(node: MutableSchema): void {
  const types = listTypes(node);
  if (types === undefined || (!Array.isArray(node.type) && node.type !== "null")) return;
  const type = asType(types);
  if (!sameJson(type, node.type)) node.type = type;
}

function tidyEnum(node: MutableSchema, budget: Budget): void {
  if (!Array.isArray(node.enum)) return;
  const values = distinctValues(node.enum, budget);
  const types = listTypes(node);
  const possible = types && values.filter((value) => acceptsType(types, typeOfJson(value)));
  if (types === undefined && values.length > 0) node.type = asType(values.map(typeOfJson));
  const kept = possible !== undefined && possible.length > 0 ? possible : values;
  if (kept.length < node.enum.length) node.enum = kept;
}

export function distinctValues(values: readonly unknown[], budget: Budget): unknown[] {
  const simple = new Set<unknown>();
  const kept: unknown[] = [];
  for (const value of values) {
    if (typeof value !== "object" || value === null) {
      if (simple.has(value)) continue;
      simple.add(value);
    } else if (kept.some((other) => sameJson(other, value, budget))) continue;
    kept.push(value);
  }
  return kept;
}

const IN_PLACE = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas"];

/** With nothing beside it that evaluates fields elsewhere, "unevaluated" is "additional". */
function tidyUnevaluated(node: MutableSchema): void {
  if (IN_PLACE.some((name) => name in node)) return;
  if (node.unevaluatedProperties !== undefined) {
    node.additionalProperties ??= node.unevaluatedProperties;
    delete node.unevaluatedProperties;
  }
  if (node.unevaluatedItems !== undefined && node.contains === undefined) {
    node.items ??= node.unevaluatedItems;
    delete node.unevaluatedItems;
  }
}

const MAX_NAMED_FIELDS = 100;

/** Names that may be any string say nothing; names from a list are the fields themselves. */
function tidyPropertyNames(node: MutableSchema, budget: Budget): void {
  const { propertyNames: names, patternProperties } = node;
  if (names === undefined || (!isOpen(names) && !isRecord(names))) return;
  const { type: _, enum: listed, ...others } = asRecord(names);
  if (Object.keys(others).length > 0) return;
  if (listed === undefined) {
    if (listTypes(asRecord(names))?.includes("string") !== false) delete node.propertyNames;
    return;
  }
  if (!Array.isArray(listed) || patternProperties !== undefined) return;
  const allowed = listed.filter((name): name is string => typeof name === "string");
  if (allowed.length > MAX_NAMED_FIELDS || allowed.includes("__proto__")) return;
  const fields = asRecord(node.properties);
  const properties: MutableSchema = {};
  for (const name of allowed) {
    const field = Object.hasOwn(fields, name) ? fields[name] : node.additionalProperties;
    if (field !== false) properties[name] = isOpen(field) ? {} : field;
  }
  budget.left -= allowed.length;
  node.properties = properties;
  node.additionalProperties = false;
  delete node.propertyNames;
}

/** A tuple of equal items that can have no others is a list; a list of nothing is an empty list. */
function tidyTuple(node: MutableSchema, budget: Budget): void {
  if (Array.isArray(node.prefixItems)) {
    const [first, ...others] = node.prefixItems as SchemaNode[];
    const length = others.length + 1;
    const max = typeof node.maxItems === "number" ? node.maxItems : Number.POSITIVE_INFINITY;
    const rest = node.items;
    const isList =
      first !== undefined &&
      others.every((other) => sameJson(first, other, budget)) &&
      (rest === false || max <= length || sameJson(rest ?? {}, first, budget));
    if (!isList) return;
    if (rest === false) node.maxItems = Math.min(max, length);
    delete node.prefixItems;
    node.items = first;
  }
  if (node.items === false) {
    delete node.items;
    node.maxItems = 0;
  }
}

function tidyFields(node: MutableSchema): void {
  if (Array.isArray(node.required)) {
    const distinct = [...new Set(node.required)];
    if (distinct.length === 0) delete node.required;
    else if (distinct.length < node.required.length) node.required = distinct;
  }
  for (const name of ["patternProperties", "dependentSchemas", "dependentRequired"]) {
    if (isRecord(node[name]) && Object.keys(node[name]).length === 0) delete node[name];
  }
  // A field that may never be there is refused just as well by "no other fields".
  if (isRecord(node.properties) && node.additionalProperties === false) {
    const possible = Object.entries(node.properties).filter(([, field]) => field !== false);
    if (possible.length < Object.keys(node.properties).length && !node.patternProperties) {
      node.properties = Object.fromEntries(possible);
    }
  }
}
