// One document made ready for the validator: modern keywords only, every reference local and to a named
// definition, patterns only where the linear engine takes them, and meters where a schema may be applied
// many times. What is not here (ids, anchors, unknown keywords) can therefore not surprise the validator.

import { modernNode } from "./dialects.ts";
import { childPointer, isRecord, type JsonSchema, type SchemaNode } from "./json.ts";
import { baseWithin, openReferences, type Target } from "./references.ts";
import { createRegex, type LinearRegex } from "./regex.ts";
import { wordSet } from "./text.ts";
import { mapSchemas, VOCABULARY } from "./vocabulary.ts";

/** Holds the static size of a schema: what one more application of it costs. */
export const COST_KEYWORD = "soong:cost";

export type PreparedSchema = { schema: JsonSchema; patterns: ReadonlyMap<string, LinearRegex> };

const MAX_NODES = 20_000;
const MAX_DEPTH = 200;

/** Throws for a schema that cannot be checked. */
export function prepareSchema(original: JsonSchema): PreparedSchema {
  const references = openReferences(original);
  const patterns = openPatterns();
  const definitions: Record<string, unknown> = {};
  const names = new Map<string, string>();
  const waiting: { name: string; target: Target }[] = [];
  let nodes = 0;

  const referTo = (target: Target): string => {
    let name = names.get(target.pointer);
    if (name === undefined) {
      name = `d${names.size}`;
      names.set(target.pointer, name);
      waiting.push({ name, target });
    }
    return `#/$defs/${name}`;
  };

  const convert = (given: SchemaNode, place: Place): { node: unknown; cost: number } => {
    nodes += 1;
    if (nodes > MAX_NODES || place.depth > MAX_DEPTH)
      throw new Error("it is too large or too deep");
    if (typeof given === "boolean") return { node: given, cost: 1 };
    const base = baseWithin(given, place.pointer, place.base);
    const node = enforceable(modernNode(given), patterns);
    const result: Record<string, unknown> = {};
    let cost = 1;

    const child = (name: string, held: SchemaNode, keys: string[]): unknown => {
      let schema = held;
      let next = {
        pointer: [name, ...keys].reduce(childPointer, place.pointer),
        base,
        depth: place.depth + 1,
        within: place.within,
      };
      const alternative = UNIONS.has(name) ? onlyReference(schema) : undefined;
      const target = alternative && references.locate(alternative, base);
      if (target && nodes < MAX_INLINED && !place.within.includes(target.pointer)) {
        schema = target.node;
        next = { ...next, ...target, within: [...place.within, target.pointer] };
      }
      const inner = convert(schema, next);
      if (REPEATED.has(name)) return addMeter(inner);
      cost += inner.cost;
      return inner.node;
    };

    for (const name of Object.keys(node)) {
      const entry = VOCABULARY.get(name);
      const held = node[name];
      if (entry === undefined || IGNORED.has(name)) continue;
      if (entry.standing === "note" || entry.standing === "stripped") continue;
      if (!entry.accepts(held)) {
        throw new Error(`${childPointer(place.pointer, name)} must be ${entry.expected}`);
      }
      if (name === "$ref") {
        const target = references.locate(held as string, base);
        if (!target)
          throw new Error(`${String(held)} is not a place in it, and nothing is fetched`);
        result.$ref = referTo(target);
      } else if (name === "enum") {
        cost += (held as unknown[]).length >> 2;
        // The validator takes no empty enum; no value is in it.
        if ((held as unknown[]).length > 0) result.enum = held;
        else result.not = {};
      } else if (name === "required") result.required = [...new Set(held as string[])];
      else result[name] = mapSchemas(entry, held, (one, ...keys) => child(name, one, keys));
    }
    return { node: result, cost };
  };

  const root = convert(original, { pointer: "", base: "", depth: 0, within: [] });
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { node, pointer, base } = next.target;
    definitions[next.name] = addMeter(convert(node, { pointer, base, depth: 0, within: [] }));
  }
  const schema = isRecord(root.node) ? root.node : {};
  return {
    schema: names.size > 0 ? { ...schema, $defs: definitions } : schema,
    patterns: patterns.compiled,
  };
}

export type Patterns = {
  /** Why a pattern cannot be enforced; undefined when it can. */
  refusal: (source: string) => string | undefined;
  compiled: ReadonlyMap<string, LinearRegex>;
};

/** Compiling is what a pattern costs us at registration, so one schema gets a bounded amount of it. */
export function openPatterns(): Patterns {
  const compiled = new Map<string, LinearRegex>();
  const refusals = new Map<string, string>();
  let left = 50_000;
  return {
    compiled,
    refusal: (source) => {
      if (compiled.has(source)) return undefined;
      const known = refusals.get(source);
      if (known !== undefined) return known;
      const result = left > 0 ? createRegex(source) : undefined;
      left -= 100 + (result?.ok ? result.regex.size : source.length);
      if (result?.ok) {
        compiled.set(source, result.regex);
        return undefined;
      }
      const message = result?.message ?? "the schema's patterns are too large together";
      refusals.set(source, message);
      return message;
    },
  };
}

/** `within` holds the references written out on the way here. */
type Place = { pointer: string; base: string; depth: number; within: readonly string[] };

const UNIONS = wordSet("anyOf oneOf");
/** Alternatives are written out while the schema is small: then an error says which one it is of. */
const MAX_INLINED = 500;

/** Applied once for each item, field or visit, and therefore metered. */
const REPEATED = wordSet(
  "items contains unevaluatedItems additionalProperties patternProperties propertyNames unevaluatedProperties",
);

/** Known, but saying nothing about which values are valid. */
const IGNORED = wordSet(
  "nullable $dynamicAnchor $recursiveAnchor contentEncoding contentMediaType contentSchema",
);

/** The reference of a node that, annotations aside, is nothing else. */
function onlyReference(node: unknown): string | undefined {
  if (!isRecord(node) || typeof node.$ref !== "string") return undefined;
  const others = Object.keys(node).filter((name) => name !== "$ref");
  const silent = others.every((name) => VOCABULARY.get(name)?.standing === "note");
  return silent ? node.$ref : undefined;
}

function addMeter({ node, cost }: { node: unknown; cost: number }): unknown {
  if (!isRecord(node) || Object.keys(node).length === 0) return node;
  return { ...node, [COST_KEYWORD]: cost };
}

/**
 * Without the patterns we cannot run. Which fields such a `patternProperties` covers is then unknown,
 * so "all other fields" cannot be distinguished from them and goes too.
 */
function enforceable(node: JsonSchema, patterns: Patterns): JsonSchema {
  const { pattern, patternProperties } = node;
  let result = node;
  if (typeof pattern === "string" && patterns.refusal(pattern) !== undefined) {
    const { pattern: _, ...rest } = result;
    result = rest;
  }
  if (isRecord(patternProperties)) {
    const all = Object.entries(patternProperties);
    const kept = all.filter(([source]) => patterns.refusal(source) === undefined);
    if (kept.length < all.length) {
      const { additionalProperties: _, unevaluatedProperties: __, ...rest } = result;
      result = { ...rest, patternProperties: Object.fromEntries(kept) };
    }
  }
  return result;
}
