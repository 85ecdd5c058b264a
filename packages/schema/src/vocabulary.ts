// Every keyword we know: what it holds, which type it speaks about, how it relates to the core
// subset (SCHEMA-1), and what its value must look like. The rest of the module asks this table.

import { childPointer, isRecord, isSchemaNode, type JsonSchema, type SchemaNode } from "./json.ts";
import { wordSet } from "./text.ts";

/** RFC 6901 pointer into the schema, the keyword it points at, and what is wrong in words. */
export type SchemaProblem = { pointer: string; keyword: string; message: string };

/**
 * core: inside the subset. note: an annotation that stays. stripped: accepted, but nothing a model
 * needs. outside: refused for our own tools unless lowering makes it disappear.
 */
export type Standing = "core" | "note" | "stripped" | "outside";

export type Keyword = {
  standing: Standing;
  holds: "value" | "schema" | "schema list" | "schema map";
  /** The one type the keyword speaks about; values of other types pass it. */
  concerns: "string" | "number" | "array" | "object" | "any";
  expected: string;
  accepts: (value: unknown) => boolean;
};

const JSON_TYPES: ReadonlySet<unknown> = wordSet("object string number integer boolean array null");

type Shape = Pick<Keyword, "holds" | "expected" | "accepts">;

const value = (expected: string, accepts: (value: unknown) => boolean): Shape => ({
  holds: "value",
  expected,
  accepts,
});
const ANYTHING = value("any value", () => true);
const TEXT = value("a string", (given) => typeof given === "string");
const FLAG = value("true or false", (given) => typeof given === "boolean");
const NUMBER = value("a number", (given) => typeof given === "number");
const LIMIT = value("a number", (given) => typeof given === "number" || typeof given === "boolean");
const POSITIVE = value("a number above 0", (given) => typeof given === "number" && given > 0);
const COUNT = value(
  "a whole number from 0",
  (given) => Number.isInteger(given) && (given as number) >= 0,
);
const LIST = value("a list", Array.isArray);
const NAMES = value("a list of strings", isNames);
const NAME_MAP = value(
  "an object whose values are lists of strings",
  (given) => isRecord(given) && Object.values(given).every(isNames),
);
const TYPES = value("a JSON type or a list of them", (given) =>
  Array.isArray(given)
    ? given.length > 0 && given.every((type) => JSON_TYPES.has(type))
    : JSON_TYPES.has(given),
);
const SCHEMA: Shape = {
  holds: "schema",
  expected: "a schema (an object, true or false)",
  accepts: isSchemaNode,
};
const SCHEMAS: Shape = {
  holds: "schema list",
  expected: "a list of at least one schema",
  accepts: (given) => Array.isArray(given) && given.length > 0 && given.every(isSchemaNode),
};
/** Draft-07, where a list of names replaces a schema. */
const DEPENDENCIES: Shape = { holds: "schema map", expected: "an object", accepts: isRecord };
const SCHEMA_MAP: Shape = {
  holds: "schema map",
  expected: "an object whose values are schemas",
  accepts: (given) => isRecord(given) && Object.values(given).every(isSchemaNode),
};

const keyword = (
  standing: Standing,
  concerns: Keyword["concerns"],
  shape: Shape,
  ...names: string[]
): [string, Keyword][] => names.map((name) => [name, { standing, concerns, ...shape }]);

/** A Map, so that a keyword called `constructor` is not found. */
export const VOCABULARY: ReadonlyMap<string, Keyword> = new Map([
  ...keyword("core", "any", TYPES, "type"),
  ...keyword("core", "any", LIST, "enum"),
  ...keyword("core", "string", TEXT, "format", "pattern"),
  ...keyword("core", "string", COUNT, "minLength", "maxLength"),
  ...keyword("core", "number", NUMBER, "minimum", "maximum"),
  ...keyword("core", "number", LIMIT, "exclusiveMinimum", "exclusiveMaximum"),
  ...keyword("core", "array", SCHEMA, "items"),
  ...keyword("core", "array", COUNT, "minItems", "maxItems"),
  ...keyword("core", "array", FLAG, "uniqueItems"),
  ...keyword("core", "object", SCHEMA_MAP, "properties"),
  ...keyword("core", "object", NAMES, "required"),
  ...keyword("core", "object", SCHEMA, "additionalProperties"),

  ...keyword("note", "any", TEXT, "title", "description"),
  ...keyword("note", "any", ANYTHING, "default"),
  ...keyword("note", "any", LIST, "examples"),
  ...keyword("note", "any", FLAG, "deprecated"),

  ...keyword("stripped", "any", TEXT, "$schema", "$id", "id", "$comment", "$anchor"),
  ...keyword("stripped", "any", FLAG, "readOnly", "writeOnly", "x-sensitive"),
  ...keyword("stripped", "any", SCHEMA_MAP, "$defs", "definitions"),

  ...keyword("outside", "any", ANYTHING, "const"),
  ...keyword("outside", "any", FLAG, "nullable"),
  ...keyword("outside", "any", TEXT, "$ref", "$dynamicRef", "$recursiveRef"),
  ...keyword("outside", "any", TEXT, "$dynamicAnchor"),
  ...keyword("outside", "any", FLAG, "$recursiveAnchor"),
  ...keyword("outside", "any", SCHEMAS, "allOf", "anyOf", "oneOf"),
  ...keyword("outside", "any", SCHEMA, "not", "if", "then", "else"),
  ...keyword("outside", "number", POSITIVE, "multipleOf"),
  ...keyword("outside", "string", TEXT, "contentEncoding", "contentMediaType"),
  ...keyword("outside", "string", SCHEMA, "contentSchema"),
  ...keyword("outside", "array", SCHEMAS, "prefixItems"),
  ...keyword("outside", "array", SCHEMA, "additionalItems", "contains", "unevaluatedItems"),
  ...keyword("outside", "array", COUNT, "minContains", "maxContains"),
  ...keyword("outside", "object", SCHEMA_MAP, "patternProperties", "dependentSchemas"),
  ...keyword("outside", "object", SCHEMA, "propertyNames", "unevaluatedProperties"),
  ...keyword("outside", "object", COUNT, "minProperties", "maxProperties"),
  ...keyword("outside", "object", NAME_MAP, "dependentRequired"),
  ...keyword("outside", "object", DEPENDENCIES, "dependencies"),
]);

/** The schemas standing directly in a node, each with the keyword and its pointer. */
export function childSchemas(
  node: JsonSchema,
  pointer: string,
): { keyword: string; pointer: string; node: SchemaNode }[] {
  const children: { keyword: string; pointer: string; node: SchemaNode }[] = [];
  for (const keyword of Object.keys(node)) {
    const held = node[keyword];
    const entry = VOCABULARY.get(keyword);
    if (entry === undefined || typeof held !== "object" || held === null) continue;
    mapSchemas(entry, held, (child, ...key) => {
      const at = [keyword, ...key].reduce(childPointer, pointer);
      if (isSchemaNode(child)) children.push({ keyword, pointer: at, node: child });
      return child;
    });
  }
  return children;
}

/** What a keyword holds, with every schema in it changed; the same value where none changes. */
export function mapSchemas(
  { holds }: Keyword,
  held: unknown,
  change: (node: SchemaNode, ...key: string[]) => unknown,
): unknown {
  if (holds === "value") return held;
  // Draft-07 tuples: `items` may hold a list.
  if (holds === "schema" && !Array.isArray(held)) return change(held as SchemaNode);
  const nodes = held as Readonly<Record<string, SchemaNode>>;
  const entries = Object.keys(nodes)
    .filter((key) => key !== "__proto__")
    .map((key) => [key, change(nodes[key] as SchemaNode, key)] as const);
  if (entries.every(([key, node]) => node === nodes[key])) return held;
  return Array.isArray(held) ? entries.map(([, node]) => node) : Object.fromEntries(entries);
}

/** Visits every schema node below and including the root once; safe for any object graph. */
export function forEachSchema(
  root: JsonSchema,
  visit: (node: JsonSchema, pointer: string) => void,
): void {
  const seen = new Set<JsonSchema>([root]);
  const waiting: { node: JsonSchema; pointer: string }[] = [{ node: root, pointer: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    visit(next.node, next.pointer);
    const children = childSchemas(next.node, next.pointer);
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const child = children[index];
      if (child === undefined || typeof child.node === "boolean" || seen.has(child.node)) continue;
      seen.add(child.node);
      waiting.push({ node: child.node, pointer: child.pointer });
    }
  }
}

/**
 * The keywords a schema uses anywhere, for model profiles. A type list with more than one real type
 * adds "type:list", and `null` among the types adds "type:null": some models take neither.
 */
export function listKeywords(schema: JsonSchema): Set<string> {
  const used = new Set<string>();
  forEachSchema(schema, (node) => {
    for (const name of Object.keys(node)) used.add(name);
    const types = Array.isArray(node.type) ? node.type : [node.type];
    if (types.includes("null")) used.add("type:null");
    if (types.filter((type) => type !== "null").length > 1) used.add("type:list");
  });
  return used;
}

function isNames(given: unknown): boolean {
  return Array.isArray(given) && given.every((name) => typeof name === "string");
}
