// One node of a schema and everything below it, lowered: each keyword in its turn, then all that must
// hold together merged into one node, then tidied. What stays outside the core subset is reported.

import { modernNode } from "./dialects.ts";
import { foldUnion, isUnionKeyword } from "./fold-union.ts";
import { isRecord, type Budget, type JsonSchema, type SchemaNode } from "./json.ts";
import { mergeInto } from "./merge-schemas.ts";
import { openPatterns, type Patterns } from "./prepare-schema.ts";
import { recursiveTargets } from "./recursive-references.ts";
import {
  baseWithin,
  childPointer,
  openReferences,
  pointerTokens,
  type References,
  type Target,
} from "./references.ts";
import { tidySchema, type MutableSchema } from "./tidy-schema.ts";
import { VOCABULARY, type SchemaProblem } from "./vocabulary.ts";

const MAX_DEPTH = 200;
const MAX_PROBLEMS = 50;

/** What one pass over a document shares. */
export type Run = {
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
export const TOP: Place = { pointer: "", base: "", depth: 0 };

export function openRun(root: JsonSchema, maxNodes: number): Run {
  return {
    root,
    references: openReferences(root),
    patterns: openPatterns(),
    budget: { left: maxNodes },
    problems: new Map(),
    recursive: undefined,
    lowered: new Map(),
    definitions: new Map(),
  };
}

export function lowerNode(run: Run, given: SchemaNode, place: Place): SchemaNode {
  if (typeof given === "boolean") return given ? EVERYTHING : false;
  run.budget.left -= 1;
  if (place.depth > MAX_DEPTH) run.budget.left = -1;
  if (run.budget.left < 0) return given;

  const base = baseWithin(given, place.pointer, place.base);
  const node = modernNode(given);
  const own: MutableSchema = {};
  const parts: Part[] = [];
  const child: Lower = (held, ...steps) =>
    lowerNode(run, held as SchemaNode, {
      pointer: steps.reduce(childPointer, place.pointer),
      base,
      depth: place.depth + 1,
    });

  for (const name of Object.keys(node)) {
    const held = node[name];
    const entry = VOCABULARY.get(name);
    const isWellFormed = entry?.accepts(held) ?? false;
    if (entry?.standing === "stripped" || (entry?.standing === "note" && !isWellFormed)) continue;
    if (entry === undefined || !isWellFormed) {
      own[name] = held;
      const reason = entry ? `must be ${entry.expected}` : "is not a keyword of the core subset";
      report(run, place, name, `${name} ${reason}`);
    } else if (name === "const") {
      parts.push({
        keyword: name,
        node: { enum: [held] },
        otherwise: { keyword: name, value: held },
      });
    } else if (name === "$ref") {
      const part = lowerReference(run, held as string, base, place);
      if (part) parts.push(part);
      else own.$ref = held;
    } else if (name === "allOf") {
      (held as SchemaNode[]).forEach((member, index) => {
        const lowered = child(member, name, String(index));
        parts.push({
          keyword: name,
          node: lowered,
          otherwise: { keyword: name, value: [lowered] },
        });
      });
    } else if (isUnionKeyword(name)) {
      const branches = lowerList(held as SchemaNode[], name, child);
      const folded = foldUnion(branches, name, run.budget);
      if (folded === undefined) own[name] = branches;
      else
        parts.push({ keyword: name, node: folded, otherwise: { keyword: name, value: branches } });
    } else if (name === "not") {
      const excluded = child(held, name);
      if (excluded === false) continue;
      if (isRecord(excluded) && Object.keys(excluded).length === 0) return false;
      own.not = excluded;
    } else if (name === "additionalProperties") {
      own[name] = typeof held === "boolean" ? held : child(held, name);
    } else if (entry.holds === "schema") own[name] = child(held, name);
    else if (entry.holds === "schema list")
      own[name] = lowerList(held as SchemaNode[], name, child);
    else if (entry.holds === "schema map") own[name] = lowerMap(held as JsonSchema, name, child);
    else if (held !== "" || entry.standing !== "note") own[name] = held;
  }

  const whole = joinParts(run, own, parts, place);
  if (typeof whole === "boolean") return whole;
  const result = tidySchema(whole === own ? own : { ...whole }, run.budget);
  reportLeft(run, place, node, result);
  return sameEntries(result, given) ? given : result;
}

const EVERYTHING: JsonSchema = Object.freeze({});

type Lower = (held: unknown, ...steps: string[]) => SchemaNode;

function lowerList(list: readonly SchemaNode[], name: string, child: Lower): readonly SchemaNode[] {
  const lowered = list.map((one, index) => child(one, name, String(index)));
  return lowered.every((one, index) => one === list[index]) ? list : lowered;
}

function lowerMap(map: JsonSchema, name: string, child: Lower): JsonSchema {
  let changed = false;
  const lowered: MutableSchema = {};
  for (const key of Object.keys(map)) {
    if (key === "__proto__") continue;
    lowered[key] = child(map[key], name, key);
    changed ||= lowered[key] !== map[key];
  }
  return changed ? lowered : map;
}

/** Everything that must hold at once, in one node as far as the core keywords can say it. */
function joinParts(run: Run, own: JsonSchema, parts: readonly Part[], place: Place): SchemaNode {
  let whole: JsonSchema = own;
  for (const part of parts) {
    const merged = mergeInto(whole, part.node, run.budget);
    if (merged === undefined) {
      whole = keepApart(whole, part);
      report(run, place, part.keyword, REASONS[part.keyword] ?? "cannot be merged");
    } else if (typeof merged === "boolean") return merged;
    else whole = merged;
  }
  return whole;
}

function keepApart(whole: JsonSchema, { node, otherwise }: Part): JsonSchema {
  const { keyword, value } = otherwise;
  if (keyword !== "allOf" && !(keyword in whole)) return { ...whole, [keyword]: value };
  const members: unknown[] = Array.isArray(whole.allOf) ? whole.allOf : [];
  return { ...whole, allOf: [...members, keyword === "allOf" ? node : { [keyword]: value }] };
}

/** The target written out; a recursive one stays a reference to a definition. */
function lowerReference(run: Run, reference: string, base: string, place: Place): Part | undefined {
  const target = run.references.locate(reference, base);
  if (target === undefined) return undefined;
  run.recursive ??= recursiveTargets(run.root, run.references);
  if (run.recursive.has(target.pointer)) {
    const $ref = referTo(run, target, place);
    return { keyword: "$ref", node: { $ref }, otherwise: { keyword: "$ref", value: $ref } };
  }
  let node = run.lowered.get(target.pointer);
  if (node === undefined) {
    node = lowerNode(run, target.node, { ...target, depth: place.depth + 1 });
    run.lowered.set(target.pointer, node);
  }
  return { keyword: "$ref", node, otherwise: { keyword: "allOf", value: [node] } };
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

/** A part that must hold together with the node it stands in; `otherwise` is how it is kept if it cannot. */
type Part = { keyword: string; node: SchemaNode; otherwise: { keyword: string; value: unknown } };

const REASONS: { readonly [keyword: string]: string } = {
  anyOf: "alternatives fold only when they are constants, null, or scalars of different types",
  oneOf: "alternatives fold only when they are constants, null, or scalars of different types",
  allOf: "these schemas cannot be merged into one",
  $ref: "a reference is written out only when it leads to a place in this schema, not to itself, and fits the keywords beside it",
  const: "the constant does not fit the other keywords",
  not: "`not` cannot be said in the core subset",
  prefixItems: "a tuple is only possible when all its items are alike and it has no others",
};

/** Names what of this node's own keywords is still there and should not be. */
function reportLeft(run: Run, place: Place, node: JsonSchema, result: JsonSchema): void {
  for (const name of Object.keys(result)) {
    if (!(name in node)) continue;
    const value = result[name];
    if (name === "pattern" && typeof value === "string") {
      const refusal = run.patterns.refusal(value);
      if (refusal !== undefined) report(run, place, name, refusal);
    } else if (name === "enum" && Array.isArray(value) && value.length === 0) {
      report(run, place, name, "enum lists no value");
    } else if (name === "properties" && isRecord(value)) {
      for (const [key, field] of Object.entries(value)) {
        const at = { ...place, pointer: childPointer(place.pointer, name) };
        if (field === false) report(run, at, key, "no value is allowed here");
      }
    } else if (VOCABULARY.get(name)?.standing === "outside") {
      report(run, place, name, REASONS[name] ?? `${name} is not in the core subset`);
    }
  }
}

export function report(run: Run, place: Place, keyword: string, message: string): void {
  const pointer = childPointer(place.pointer, keyword);
  if (run.problems.size < MAX_PROBLEMS && !run.problems.has(pointer)) {
    run.problems.set(pointer, { pointer, keyword, message });
  }
}

function sameEntries(a: JsonSchema, b: JsonSchema): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
