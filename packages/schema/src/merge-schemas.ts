// Two schemas that must both hold, written as one (allOf, and $ref with keywords beside it). Undefined
// means that the core keywords cannot say both at once; then they stay apart.

import { type Budget, type JsonSchema, type SchemaNode, asRecord, sameJson } from "./json.ts";
import { createRegex } from "./regex.ts";
import {
  acceptsType,
  asType,
  isOpen,
  tidySchema,
  typesOf,
  type MutableSchema,
} from "./tidy-schema.ts";

/** Where both annotate, the first speaks first. */
export function mergeSchemas(a: SchemaNode, b: SchemaNode, budget: Budget): SchemaNode | undefined {
  if (a === b) return a;
  if (a === false || b === false) return false;
  if (isOpen(a)) return b === true ? {} : b;
  if (isOpen(b)) return a;
  budget.left -= 1;
  if (budget.left < 0) return undefined;
  const left = a as JsonSchema;
  const right = b as JsonSchema;
  if (SEEING_SIBLINGS.some((name) => name in left || name in right)) return undefined;
  if (GROUPS.some((group) => hasAny(left, group) && hasAny(right, group))) return undefined;

  const merged: MutableSchema = { ...left };
  for (const name of Object.keys(right)) {
    if (SPECIAL.has(name)) continue;
    if (!(name in left)) merged[name] = right[name];
    else {
      const both = mergeKeyword(name, left, right, budget);
      if (both === undefined) return undefined;
      merged[name] = both;
    }
  }
  if (!mergeFields(merged, left, right, budget)) return undefined;
  if (!mergeItems(merged, left, right, budget)) return undefined;
  return tidySchema(merged, budget);
}

/** Merges a part of a node (its $ref's target, a member of its allOf) into the node itself. */
export function mergeInto(
  node: JsonSchema,
  part: SchemaNode,
  budget: Budget,
): SchemaNode | undefined {
  // These see what the node's own parts evaluate, so for them the part may move in.
  const { unevaluatedProperties, unevaluatedItems, ...plain } = node;
  const merged = mergeSchemas(plain, part, budget);
  if (merged === undefined || typeof merged === "boolean") return merged;
  const result: MutableSchema = { ...merged };
  if (unevaluatedProperties !== undefined) result.unevaluatedProperties = unevaluatedProperties;
  if (unevaluatedItems !== undefined) result.unevaluatedItems = unevaluatedItems;
  return result;
}

export function joinDescriptions(first: unknown, second: unknown): unknown {
  if (typeof first !== "string" || first === "") return second;
  if (typeof second !== "string" || first.includes(second)) return first;
  return second.includes(first) ? second : `${first}\n${second}`;
}

const SEEING_SIBLINGS = ["unevaluatedProperties", "unevaluatedItems"];
const GROUPS = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];
const FIELDS = ["properties", "additionalProperties", "patternProperties"];
const ITEMS = ["prefixItems", "items"];
const SPECIAL: ReadonlySet<string> = new Set([...FIELDS, ...ITEMS]);

function hasAny(node: JsonSchema, names: readonly string[]): boolean {
  return names.some((name) => name in node);
}

function mergeKeyword(name: string, left: JsonSchema, right: JsonSchema, budget: Budget): unknown {
  const a = left[name];
  const b = right[name];
  switch (name) {
    case "description":
      return joinDescriptions(a, b);
    case "title":
    case "default":
    case "examples":
    case "deprecated":
      return a;
    case "type":
      return commonTypes(left, right);
    case "enum":
      return commonValues(a, b, budget);
    case "required":
      return [...new Set([...(a as string[]), ...(b as string[])])];
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return Math.max(a as number, b as number);
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return Math.min(a as number, b as number);
    case "uniqueItems":
      return a === true || b === true;
    case "pattern":
      return bothPatterns(a as string, b as string);
    case "propertyNames":
      return mergeSchemas(a as SchemaNode, b as SchemaNode, budget);
    default:
      return sameJson(a, b, budget) ? a : undefined;
  }
}

function commonTypes(left: JsonSchema, right: JsonSchema): unknown {
  const a = typesOf(left) ?? [];
  const b = typesOf(right) ?? [];
  const common = [
    ...a.filter((type) => acceptsType(b, type)),
    ...b.filter((type) => acceptsType(a, type)),
  ];
  return common.length > 0 ? asType(common) : undefined;
}

function commonValues(a: unknown, b: unknown, budget: Budget): unknown[] | undefined {
  const others = b as unknown[];
  const common = (a as unknown[]).filter((value) =>
    others.some((other) => sameJson(value, other, budget)),
  );
  return common.length > 0 ? common : undefined;
}

/** Two patterns are one that looks ahead twice from the start; our engine takes those apart again. */
function bothPatterns(a: string, b: string): string | undefined {
  if (a === b) return a;
  const both = `^(?=[\\s\\S]*?(?:${a}))(?=[\\s\\S]*?(?:${b}))`;
  return createRegex(both).ok ? both : undefined;
}

/**
 * `additionalProperties` speaks about the fields its own schema does not name, so a field that only
 * one side names must also satisfy what the other side says about the rest.
 */
function mergeFields(
  merged: MutableSchema,
  left: JsonSchema,
  right: JsonSchema,
  budget: Budget,
): boolean {
  if (!hasAny(right, FIELDS)) return true;
  if (!hasAny(left, FIELDS)) return copyKeywords(merged, right, FIELDS);
  const restA = left.additionalProperties;
  const restB = right.additionalProperties;
  const hasPatterns = "patternProperties" in left || "patternProperties" in right;
  if (hasPatterns && !(isOpen(restA) && isOpen(restB))) return false;

  const fieldsA = asRecord(left.properties);
  const fieldsB = asRecord(right.properties);
  const rest = mergeSchemas(nodeOr(restA), nodeOr(restB), budget);
  if (rest === undefined) return false;
  const properties: { [name: string]: unknown } = {};
  for (const name of new Set([...Object.keys(fieldsA), ...Object.keys(fieldsB)])) {
    const a = Object.hasOwn(fieldsA, name) ? fieldsA[name] : restA;
    const b = Object.hasOwn(fieldsB, name) ? fieldsB[name] : restB;
    const field = mergeSchemas(nodeOr(a), nodeOr(b), budget);
    if (field === undefined) return false;
    // "No other fields" refuses a field that may never be there just as well.
    if (field !== false || rest !== false) properties[name] = field;
  }
  if (restA !== undefined || restB !== undefined) merged.additionalProperties = rest;
  if ("properties" in left || "properties" in right) merged.properties = properties;
  return !hasPatterns || mergePatterns(merged, left, right, budget);
}

function mergePatterns(
  merged: MutableSchema,
  left: JsonSchema,
  right: JsonSchema,
  budget: Budget,
): boolean {
  const patterns: { [source: string]: unknown } = { ...asRecord(left.patternProperties) };
  for (const [source, node] of Object.entries(asRecord(right.patternProperties))) {
    const both = Object.hasOwn(patterns, source)
      ? mergeSchemas(nodeOr(patterns[source]), nodeOr(node), budget)
      : node;
    if (both === undefined) return false;
    patterns[source] = both;
  }
  merged.patternProperties = patterns;
  return true;
}

function mergeItems(
  merged: MutableSchema,
  left: JsonSchema,
  right: JsonSchema,
  budget: Budget,
): boolean {
  if (!hasAny(right, ITEMS)) return true;
  if (!hasAny(left, ITEMS)) return copyKeywords(merged, right, ITEMS);
  if ("prefixItems" in left || "prefixItems" in right) return false;
  const items = mergeSchemas(nodeOr(left.items), nodeOr(right.items), budget);
  if (items === undefined) return false;
  merged.items = items;
  return true;
}

function copyKeywords(to: MutableSchema, from: JsonSchema, names: readonly string[]): true {
  for (const name of names) if (name in from) to[name] = from[name];
  return true;
}

function nodeOr(node: unknown): SchemaNode {
  return node === undefined ? {} : (node as SchemaNode);
}
