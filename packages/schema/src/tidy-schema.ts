// The last step for a lowered node: the same meaning in fewer and plainer keywords. Everything here
// accepts exactly the values it accepted before.

import {
  isRecord,
  sameJson,
  typeOfJson,
  type Budget,
  type JsonSchema,
  type JsonType,
  type SchemaNode,
} from "./json.ts";

export type MutableSchema = { [keyword: string]: unknown };

/** Changes the node in place; it must be nobody else's yet. */
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
export function typesOf(node: JsonSchema): JsonType[] | undefined {
  if (node.type === undefined) return undefined;
  return (Array.isArray(node.type) ? node.type : [node.type]) as JsonType[];
}

/** Every integer is a number; otherwise types are equal or have nothing in common. */
export function acceptsType(types: readonly JsonType[], type: JsonType): boolean {
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

/** One type by itself, several as a list; `null` only ever in a list. */
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
  const types = typesOf(node);
  if (types !== undefined && (Array.isArray(node.type) || node.type === "null")) {
    const type = asType(types);
    if (!sameTypes(type, node.type)) node.type = type;
  }
}

function sameTypes(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((type, index) => type === b[index]);
}

function tidyEnum(node: MutableSchema, budget: Budget): void {
  if (!Array.isArray(node.enum)) return;
  const values = distinctValues(node.enum, budget);
  const types = typesOf(node);
  if (types === undefined) {
    if (values.length > 0) node.type = asType(values.map(typeOfJson));
  } else {
    const possible = values.filter((value) => acceptsType(types, typeOfJson(value)));
    if (possible.length > 0 && possible.length < values.length) {
      node.enum = possible;
      return;
    }
  }
  if (values.length < node.enum.length) node.enum = values;
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
  const names = node.propertyNames;
  if (names === undefined) return;
  if (isOpen(names) || (isRecord(names) && onlyType(names) && takesStrings(names))) {
    delete node.propertyNames;
    return;
  }
  if (!isRecord(names) || !Array.isArray(names.enum) || node.patternProperties !== undefined)
    return;
  if (Object.keys(names).some((name) => name !== "type" && name !== "enum")) return;
  const allowed = names.enum.filter((name): name is string => typeof name === "string");
  const fields = isRecord(node.properties) ? node.properties : {};
  if (allowed.length > MAX_NAMED_FIELDS || allowed.includes("__proto__")) return;
  const rest = node.additionalProperties;
  const properties: { [name: string]: unknown } = {};
  for (const name of allowed) {
    const field = Object.hasOwn(fields, name) ? fields[name] : rest;
    if (field !== false) properties[name] = isOpen(field) ? {} : field;
  }
  budget.left -= allowed.length;
  node.properties = properties;
  node.additionalProperties = false;
  delete node.propertyNames;
}

function onlyType(node: JsonSchema): boolean {
  return Object.keys(node).every((name) => name === "type");
}

function takesStrings(node: JsonSchema): boolean {
  return typesOf(node)?.includes("string") ?? true;
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
