// Two schemas that must both hold, written as one (allOf, and $ref with keywords beside it). Undefined
// means that the core keywords cannot say both at once; then they stay apart.

import {
  asRecord,
  sameJson,
  type Budget,
  type JsonSchema,
  type JsonType,
  type SchemaNode,
} from "./json.ts";
import { createRegex } from "./regex.ts";
import {
  acceptsType,
  asType,
  isOpen,
  tidySchema,
  listTypes,
  type MutableSchema,
} from "./tidy-schema.ts";

/** Where both annotate, the first speaks first. An absent schema takes everything. */
export function mergeSchemas(a: unknown, b: unknown, budget: Budget): SchemaNode | undefined {
  if (a === false || b === false) return false;
  if (isOpen(a)) return isOpen(b) && a !== b ? {} : ((b ?? {}) as SchemaNode);
  if (isOpen(b) || a === b) return a as SchemaNode;
  budget.left -= 1;
  if (budget.left < 0) return undefined;
  const left = a as JsonSchema;
  const right = b as JsonSchema;
  if (hasAny(left, SEEING_SIBLINGS) || hasAny(right, SEEING_SIBLINGS)) return undefined;
  if (GROUPS.some((group) => hasAny(left, group) && hasAny(right, group))) return undefined;

  const merged: MutableSchema = { ...left };
  for (const name of Object.keys(right)) {
    if (FIELDS.includes(name) || ITEMS.includes(name)) continue;
    merged[name] = name in left ? mergeKeyword(name, left, right, budget) : right[name];
    if (merged[name] === undefined) return undefined;
  }
  for (const names of [FIELDS, ITEMS]) {
    if (hasAny(left, names) && hasAny(right, names)) {
      const merge = names === FIELDS ? mergeFields : mergeItems;
      if (!merge(merged, left, right, budget)) return undefined;
    } else {
      for (const name of names) if (name in right) merged[name] = right[name];
    }
  }
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

const SEEING_SIBLINGS = ["unevaluatedProperties", "unevaluatedItems"];
const GROUPS = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];
const FIELDS = ["properties", "additionalProperties", "patternProperties"];
const ITEMS = ["prefixItems", "items"];

function hasAny(node: JsonSchema, names: readonly string[]): boolean {
  return names.some((name) => name in node);
}

const FIRST = ["title", "default", "examples", "deprecated"];
const LOWER_LIMITS = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_LIMITS = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

function mergeKeyword(name: string, left: JsonSchema, right: JsonSchema, budget: Budget): unknown {
  const a = left[name];
  const b = right[name];
  if (FIRST.includes(name)) return a;
  if (LOWER_LIMITS.includes(name)) return Math.max(a as number, b as number);
  if (UPPER_LIMITS.includes(name)) return Math.min(a as number, b as number);
  switch (name) {
    case "description":
      return joinDescriptions(a, b);
    case "type":
      return commonTypes(listTypes(left) ?? [], listTypes(right) ?? []);
    case "enum": {
      const isInBoth = (value: unknown): boolean =>
        (b as unknown[]).some((other) => sameJson(value, other, budget));
      const common = (a as unknown[]).filter(isInBoth);
      return common.length > 0 ? common : undefined;
    }
    case "required":
      return [...new Set([...(a as string[]), ...(b as string[])])];
    case "uniqueItems":
      return a === true || b === true;
    case "pattern":
      return bothPatterns(a as string, b as string);
    case "propertyNames":
      return mergeSchemas(a, b, budget);
    default:
      return sameJson(a, b, budget) ? a : undefined;
  }
}

function joinDescriptions(first: unknown, second: unknown): unknown {
  if (typeof first !== "string" || first === "") return second;
  if (typeof second !== "string" || first.includes(second)) return first;
  return second.includes(first) ? second : `${first}\n${second}`;
}

function commonTypes(a: readonly JsonType[], b: readonly JsonType[]): unknown {
  const common = [
    ...a.filter((type) => acceptsType(b, type)),
    ...b.filter((type) => acceptsType(a, type)),
  ];
  return common.length > 0 ? asType(common) : undefined;
}

/** Two patterns are one that looks ahead twice from the start; our engine takes those apart again. */
function bothPatterns(a: string, b: string): string | undefined {
  if (a === b) return a;
  const both = `^(?=[\\s\\S]*?(?:${a}))(?=[\\s\\S]*?(?:${b}))`;
  return createRegex(both).ok ? both : undefined;
}

type Merge = (
  merged: MutableSchema,
  left: JsonSchema,
  right: JsonSchema,
  budget: Budget,
) => boolean;

/**
 * `additionalProperties` speaks about the fields its own schema does not name, so a field that only
 * one side names must also satisfy what the other side says about the rest.
 */
const mergeFields: Merge = (merged, left, right, budget) => {
  const restA = left.additionalProperties;
  const restB = right.additionalProperties;
  const hasPatterns = "patternProperties" in left || "patternProperties" in right;
  if (hasPatterns && !(isOpen(restA) && isOpen(restB))) return false;
  const rest = mergeSchemas(restA, restB, budget);
  const properties = mergeMaps(left.properties, right.properties, budget, restA, restB);
  if (rest === undefined || properties === undefined) return false;
  if (restA !== undefined || restB !== undefined) merged.additionalProperties = rest;
  if ("properties" in left || "properties" in right) {
    // "No other fields" refuses a field that may never be there just as well.
    const isKept = ([, field]: [string, SchemaNode]): boolean => field !== false || rest !== false;
    merged.properties = Object.fromEntries(Object.entries(properties).filter(isKept));
  }
  if (!hasPatterns) return true;
  merged.patternProperties = mergeMaps(left.patternProperties, right.patternProperties, budget);
  return merged.patternProperties !== undefined;
};

/** The rest is what a side says of a key it does not name. */
function mergeMaps(
  left: unknown,
  right: unknown,
  budget: Budget,
  restA?: unknown,
  restB?: unknown,
): Record<string, SchemaNode> | undefined {
  const a = asRecord(left);
  const b = asRecord(right);
  const merged: Record<string, SchemaNode> = {};
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const both = mergeSchemas(
      Object.hasOwn(a, key) ? a[key] : restA,
      Object.hasOwn(b, key) ? b[key] : restB,
      budget,
    );
    if (both === undefined) return undefined;
    merged[key] = both;
  }
  return merged;
}

const mergeItems: Merge = (merged, left, right, budget) => {
  if ("prefixItems" in left || "prefixItems" in right) return false;
  merged.items = mergeSchemas(left.items, right.items, budget);
  return merged.items !== undefined;
};
