// Lowering (SCHEMA-3): a schema written with unions, references and compositions, said again inside the core subset
// (SCHEMA-1) without losing anything. Pure and total; what stays outside is reported. Each node is lowered keyword by
// keyword, then all that must hold together is merged into one node, then tidied.

import { modernNode } from "./dialects.ts";
import { foldUnion } from "./fold-union.ts";
import {
  childPointer,
  pointerTokens,
  isRecord,
  sameJson,
  type Budget,
  type JsonSchema,
  type SchemaNode,
} from "./json.ts";
import { mergeInto } from "./merge-schemas.ts";
import { isPlainSchema } from "./plain-schema.ts";
import { openPatterns, type Patterns } from "./prepare-schema.ts";
import {
  baseWithin,
  findRecursiveTargets,
  openReferences,
  type References,
  type Target,
} from "./references.ts";
import { isOpen, tidySchema, listTypes, type MutableSchema } from "./tidy-schema.ts";
import { childSchemas, mapSchemas, VOCABULARY, type SchemaProblem } from "./vocabulary.ts";

export type LoweredSchema =
  | { kind: "core"; schema: JsonSchema }
  | { kind: "extended"; schema: JsonSchema; outside: SchemaProblem[] };

const MAX_NODES = 20_000;
const MAX_ROUNDS = 4;
const MAX_DEPTH = 200;
const MAX_PROBLEMS = 50;

/** Nodes that need nothing are shared with the original; a schema that needs nothing is answered as it is. */
export function lowerSchema(original: JsonSchema): LoweredSchema {
  if (isPlainSchema(original)) return { kind: "core", schema: original };
  try {
    const { schema: first, problems, exhausted } = lowerOnce(original);
    if (exhausted || countNodes(first) > MAX_NODES) return tooLarge(original);
    if (problems.size === 0) return { kind: "core", schema: first };
    const schema = settle(first);
    if (countNodes(schema) > MAX_NODES) return tooLarge(original);
    if (isInside(schema)) return { kind: "core", schema };
    return { kind: "extended", schema, outside: [...problems.values()] };
  } catch {
    // Only a schema no one has read first (bottomless, or with getters that throw) comes here.
    return tooLarge(original);
  }
}

function tooLarge(original: JsonSchema): LoweredSchema {
  const message = "the schema is too large or too deep to be written out";
  const problem = { pointer: "", keyword: "$ref", message };
  return { kind: "extended", schema: original, outside: [problem] };
}

/** What had to stay apart at first may fit once its surroundings are simpler, so it is tried again. */
function settle(first: JsonSchema): JsonSchema {
  let schema = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = lowerOnce(schema);
    if (next.exhausted || sameJson(next.schema, schema, { left: MAX_NODES })) break;
    schema = next.schema;
  }
  return schema;
}

/** Problems may have gone away with what held them, so the result itself decides. */
function isInside(schema: JsonSchema): boolean {
  if (schema.type !== "object") return false;
  const patterns = openPatterns();
  const waiting: JsonSchema[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const name of Object.keys(node)) {
      const entry = VOCABULARY.get(name);
      if (entry?.standing !== "core" && entry?.standing !== "note") return false;
      if (!entry.accepts(node[name])) return false;
    }
    if (Array.isArray(node.enum) && node.enum.length === 0) return false;
    if (typeof node.pattern === "string" && patterns.refusal(node.pattern)) return false;
    if (isRecord(node.properties) && Object.values(node.properties).includes(false)) return false;
    for (const child of childSchemas(node, "")) if (isRecord(child.node)) waiting.push(child.node);
  }
  return true;
}

/** How many nodes the schema has once written as text, where shared parts are written each time. */
function countNodes(schema: JsonSchema): number {
  const sizes = new Map<JsonSchema, number>();
  const count = (node: SchemaNode): number => {
    if (!isRecord(node)) return 1;
    let total = sizes.get(node);
    if (total === undefined) {
      total = 1;
      for (const child of childSchemas(node, "")) total += count(child.node);
      sizes.set(node, total);
    }
    return total;
  };
  return count(schema);
}

/** What one pass over a document shares. */
type Run = {
  root: JsonSchema;
  references: References;
  patterns: Patterns;
  budget: Budget;
  problems: Map<string, SchemaProblem>;
  /** Made when the first reference is met. */
  recursive: ReadonlySet<string> | undefined;
  lowered: Map<string, SchemaNode>;
  definitions: Map<string, { name: string; node: SchemaNode }>;
};

type Place = { pointer: string; base: string; depth: number };
const TOP: Place = { pointer: "", base: "", depth: 0 };
const EVERYTHING: JsonSchema = Object.freeze({});

function lowerOnce(root: JsonSchema): {
  schema: JsonSchema;
  problems: ReadonlyMap<string, SchemaProblem>;
  exhausted: boolean;
} {
  const run: Run = {
    root,
    references: openReferences(root),
    patterns: openPatterns(),
    budget: { left: MAX_NODES },
    problems: new Map(),
    recursive: undefined,
    lowered: new Map(),
    definitions: new Map(),
  };
  let schema = asArguments(run, lowerNode(run, root, TOP));
  if (run.definitions.size > 0) {
    const definitions = [...run.definitions.values()].map(({ name, node }) => [name, node]);
    schema = { ...schema, $defs: Object.fromEntries(definitions) };
  }
  return { schema, problems: run.problems, exhausted: run.budget.left < 0 };
}

/** Arguments are always an object, so a root that leaves its type open is an object. */
function asArguments(run: Run, root: SchemaNode): JsonSchema {
  if (typeof root === "boolean") {
    report(run, TOP, "not", "no arguments could ever be valid");
    return { not: {} };
  }
  const types = listTypes(root);
  if (types === undefined) return { type: "object", ...root };
  if (!types.includes("object")) {
    report(run, TOP, "type", "the root of an input schema must be an object");
    return root;
  }
  return root.type === "object" ? root : { ...root, type: "object" };
}

/** A part that must hold together with the node it is in. `kept`: under its keyword, if it cannot be merged. */
type Part = { keyword: string; node: SchemaNode; kept?: unknown };

function lowerNode(run: Run, given: SchemaNode, place: Place): SchemaNode {
  if (typeof given === "boolean") return given ? EVERYTHING : false;
  run.budget.left -= 1;
  if (place.depth > MAX_DEPTH) run.budget.left = -1;
  if (run.budget.left < 0) return given;

  const base = baseWithin(given, place.pointer, place.base);
  const node = modernNode(given);
  const own: MutableSchema = {};
  const parts: Part[] = [];
  for (const name of Object.keys(node)) {
    const held = node[name];
    const entry = VOCABULARY.get(name);
    const isWellFormed = entry?.accepts(held) ?? false;
    if (entry?.standing === "stripped" || (entry?.standing === "note" && !isWellFormed)) continue;
    if (entry === undefined || !isWellFormed) {
      own[name] = held;
      const reason = entry ? `must be ${entry.expected}` : "is not a keyword of the core subset";
      report(run, place, name, `${name} ${reason}`);
      continue;
    }
    if (name === "$ref") {
      const part = lowerReference(run, held as string, base, place);
      if (part) parts.push(part);
      else own.$ref = held;
      continue;
    }
    const isKept = name === "additionalProperties" && typeof held === "boolean";
    const lowered = isKept
      ? held
      : mapSchemas(entry, held, (child, ...key) =>
          lowerNode(run, child, {
            pointer: [name, ...key].reduce(childPointer, place.pointer),
            base,
            depth: place.depth + 1,
          }),
        );
    if (name === "const") parts.push({ keyword: name, node: { enum: [held] }, kept: held });
    else if (name === "allOf") {
      for (const member of lowered as SchemaNode[]) parts.push({ keyword: name, node: member });
    } else if (name === "anyOf" || name === "oneOf") {
      const folded = foldUnion(lowered as SchemaNode[], name, run.budget);
      if (folded === undefined) own[name] = lowered;
      else parts.push({ keyword: name, node: folded, kept: lowered });
    } else if (name === "not" && isOpen(lowered)) return false;
    else if (name === "not" && lowered === false) continue;
    else if (lowered !== "" || entry.standing !== "note") own[name] = lowered;
  }

  const whole = joinParts(run, own, parts, place);
  if (typeof whole === "boolean") return whole;
  const result = tidySchema(whole === own ? own : { ...whole }, run.budget);
  reportOutside(run, place, node, result);
  const keys = Object.keys(result);
  const isSame =
    keys.length === Object.keys(given).length && keys.every((key) => result[key] === given[key]);
  return isSame ? given : result;
}

/** Everything that must hold at once, in one node as far as the core keywords can say it. */
function joinParts(run: Run, own: JsonSchema, parts: readonly Part[], place: Place): SchemaNode {
  let whole: JsonSchema = own;
  for (const { keyword, node, kept } of parts) {
    const merged = mergeInto(whole, node, run.budget);
    if (typeof merged === "boolean") return merged;
    if (merged !== undefined) {
      whole = merged;
      continue;
    }
    report(run, place, keyword, REASONS[keyword] ?? "cannot be merged");
    if (kept !== undefined && !(keyword in whole)) whole = { ...whole, [keyword]: kept };
    else {
      const members: unknown[] = Array.isArray(whole.allOf) ? whole.allOf : [];
      const member = kept === undefined ? node : { [keyword]: kept };
      whole = { ...whole, allOf: [...members, member] };
    }
  }
  return whole;
}

/** The target written out; a recursive one stays a reference to a definition. */
function lowerReference(run: Run, reference: string, base: string, place: Place): Part | undefined {
  const target = run.references.locate(reference, base);
  if (target === undefined) return undefined;
  run.recursive ??= findRecursiveTargets(run.root, run.references);
  if (run.recursive.has(target.pointer)) {
    const $ref = referTo(run, target, place);
    return { keyword: "$ref", node: { $ref }, kept: $ref };
  }
  let node = run.lowered.get(target.pointer);
  if (node === undefined) {
    node = lowerNode(run, target.node, { ...target, depth: place.depth + 1 });
    run.lowered.set(target.pointer, node);
  }
  return { keyword: "$ref", node };
}

function referTo(run: Run, target: Target, place: Place): string {
  if (target.pointer === "") return "#";
  let definition = run.definitions.get(target.pointer);
  if (definition === undefined) {
    const taken = new Set([...run.definitions.values()].map(({ name }) => name));
    const wanted = (pointerTokens(target.pointer).at(-1) ?? "").replace(/[^\w.-]/g, "_") || "part";
    let name = wanted;
    for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`;
    definition = { name, node: EVERYTHING };
    run.definitions.set(target.pointer, definition);
    definition.node = lowerNode(run, target.node, { ...target, depth: place.depth + 1 });
  }
  return `#/$defs/${definition.name}`;
}

const UNION_REASON =
  "alternatives fold only when they are constants, null, or scalars of different types";

const REASONS: { readonly [keyword: string]: string } = {
  anyOf: UNION_REASON,
  oneOf: UNION_REASON,
  allOf: "these schemas cannot be merged into one",
  $ref: "a reference is written out only when it leads to a place in this schema, not to itself, and fits the keywords beside it",
  const: "the constant does not fit the other keywords",
  not: "`not` cannot be said in the core subset",
  prefixItems: "a tuple is only possible when all its items are alike and it has no others",
};

/** Names what of this node's own keywords is still there and should not be. */
function reportOutside(run: Run, place: Place, node: JsonSchema, result: JsonSchema): void {
  for (const name of Object.keys(result)) {
    if (!(name in node)) continue;
    const value = result[name];
    if (name === "pattern" && typeof value === "string") {
      const refusal = run.patterns.refusal(value);
      if (refusal !== undefined) report(run, place, name, refusal);
    } else if (name === "enum" && Array.isArray(value) && value.length === 0) {
      report(run, place, name, "enum lists no value");
    } else if (name === "properties" && isRecord(value)) {
      const at = { ...place, pointer: childPointer(place.pointer, name) };
      for (const [key, field] of Object.entries(value)) {
        if (field === false) report(run, at, key, "no value is allowed here");
      }
    } else if (VOCABULARY.get(name)?.standing === "outside") {
      report(run, place, name, REASONS[name] ?? `${name} is not in the core subset`);
    }
  }
}

function report(run: Run, place: Place, keyword: string, message: string): void {
  const pointer = childPointer(place.pointer, keyword);
  if (run.problems.size < MAX_PROBLEMS && !run.problems.has(pointer)) {
    run.problems.set(pointer, { pointer, keyword, message });
  }
}
