// Relaxing (MCP-10): what lowering cannot bring inside what a model takes is offered with the offending part made
// looser, and its shape is in the description. Everything valid stays valid; what is too much is refused when
// the call is checked against the original. Pure, total and bounded.

import { modernNode } from "./dialects.ts";
import {
  childPointer,
  isRecord,
  omitUndefined,
  sameJson,
  type JsonSchema,
  type SchemaNode,
} from "./json.ts";
import { lowerSchema } from "./lower-schema.ts";
import { openPatterns, type Patterns } from "./prepare-schema.ts";
import { openReferences, type References } from "./references.ts";
import { wordSet } from "./text.ts";
import { listKeywords, mapSchemas, VOCABULARY } from "./vocabulary.ts";

/** What a model takes. */
export interface SchemaTerms {
  /** Keywords outside the core subset. */
  readonly extended: boolean;
  readonly refused?: readonly string[];
  /** Taken elsewhere, not in the root. */
  readonly refusedAtRoot?: readonly string[];
}

export interface RelaxedSchema {
  readonly schema: JsonSchema;
  /** Of the parts that are looser than they were, in the schema that was given. */
  readonly pointers: readonly string[];
}

const MAX_NODES = 2_000;
const MAX_DEPTH = 40;
const MAX_POINTERS = 50;
/** A note of one part, and all notes of a schema. */
const MAX_NOTE_CHARS = 600;
const MAX_NOTES_CHARS = 4_000;

/** Undefined where nothing can be offered: no object could ever be an argument. */
export function relaxSchema(given: JsonSchema, terms: SchemaTerms): RelaxedSchema | undefined {
  const { type, not } = given;
  const isNothing = isRecord(not) && Object.keys(not).length === 0;
  if (isNothing || !mayBe({ type }, "object")) return undefined;
  const run: Run = {
    terms,
    references: openReferences(given),
    patterns: openPatterns(),
    pointers: new Set(),
    nodes: MAX_NODES,
    chars: MAX_NOTES_CHARS,
  };
  const root = relaxNode(run, given, { pointer: "", within: [], depth: 0 });
  const schema = { ...root, type: "object" };
  const offered = isTaken(schema, terms) ? schema : namesOnly(schema);
  return { schema: offered, pointers: [...run.pointers].slice(0, MAX_POINTERS) };
}

/** Whether a model of these terms takes the schema as it is. */
export function isTaken(schema: JsonSchema, terms: SchemaTerms): boolean {
  const { extended, refused = [], refusedAtRoot = [] } = terms;
  if (refusedAtRoot.some((keyword) => keyword in schema)) return false;
  if (usesAny(schema, refused)) return false;
  return extended || lowerSchema(schema).kind === "core";
}

function usesAny(schema: JsonSchema, refused: readonly string[]): boolean {
  if (refused.length === 0) return false;
  const used = listKeywords(schema);
  return refused.some((keyword) => used.has(keyword));
}

interface Run {
  readonly terms: SchemaTerms;
  readonly references: References;
  readonly patterns: Patterns;
  readonly pointers: Set<string>;
  nodes: number;
  chars: number;
}

interface Place {
  readonly pointer: string;
  /** The references written out on the way here: one that leads to itself ends there. */
  readonly within: readonly string[];
  readonly depth: number;
}

type Node = Record<string, unknown>;

function relaxNode(run: Run, given: SchemaNode, place: Place): Node {
  run.nodes -= 1;
  if (given === true) return {};
  const isHidden = run.nodes < 0 || place.depth > MAX_DEPTH;
  if (given === false || isHidden) {
    run.pointers.add(place.pointer);
    return withNote(
      run,
      {},
      given === false ? "no value is allowed here" : "its parts are not shown",
    );
  }
  const kept: Node = {};
  const dropped: Node = {};
  const parts: Node[] = [];
  for (const [name, held] of Object.entries(modernNode(given))) {
    const entry = VOCABULARY.get(name);
    if (entry?.standing === "stripped" && !(run.terms.extended && name === "$defs")) continue;
    const child = (node: unknown, ...key: string[]): Node =>
      relaxNode(run, node as SchemaNode, {
        ...place,
        pointer: [name, ...key].reduce(childPointer, place.pointer),
        depth: place.depth + 1,
      });
    if (NEGATIVE.has(name) && takes(run, place, name, held)) kept[name] = held;
    else if (entry?.accepts(held) !== true || !takes(run, place, name, held)) {
      dropped[name] = held;
      run.pointers.add(childPointer(place.pointer, name));
      parts.push(...listShapes(run, name, held, place, child));
    } else {
      const isKept = typeof held === "boolean";
      kept[name] = isKept ? held : mapSchemas(entry, held, child);
    }
  }
  // These speak of what their neighbours do not cover, and would forbid it without them.
  if ("patternProperties" in dropped || "properties" in dropped) delete kept.additionalProperties;
  if ("prefixItems" in dropped) delete kept.items;
  if (Object.keys(dropped).some((name) => COVERING.has(name))) {
    delete kept.unevaluatedProperties;
    delete kept.unevaluatedItems;
  }
  const whole = parts.reduce(narrow, kept);
  return Object.keys(dropped).length === 0 ? whole : describeDropped(run, whole, dropped);
}

/** Where a looser part would make the whole stricter: these stay as they are, or go. */
const NEGATIVE = wordSet("not if oneOf contains");
/** Keywords whose fields and items count as covered. */
const COVERING = wordSet(
  "properties patternProperties prefixItems allOf anyOf oneOf if then else $ref dependentSchemas",
);

function takes({ terms, patterns }: Run, place: Place, name: string, held: unknown): boolean {
  const { extended, refused = [], refusedAtRoot = [] } = terms;
  if (place.pointer === "" && refusedAtRoot.includes(name)) return false;
  const looksInside = name === "type" || (extended && NEGATIVE.has(name));
  if (usesAny({ [name]: looksInside ? held : true }, refused)) return false;
  if (extended) return true;
  if (name === "pattern") return patterns.refusal(held as string) === undefined;
  if (name === "enum") return (held as unknown[]).length > 0;
  const { standing } = VOCABULARY.get(name) ?? {};
  return standing === "core" || standing === "note";
}

/** What can still be said of a part that is dropped: schemas that hold for every value it allows. */
function listShapes(
  run: Run,
  name: string,
  held: unknown,
  place: Place,
  child: (node: unknown, ...key: string[]) => Node,
): Node[] {
  if (name === "$ref" && typeof held === "string") return [relaxTarget(run, held, place)];
  if (["allOf", "anyOf", "oneOf"].includes(name) && Array.isArray(held)) {
    const members = held.map((member, at) => child(member, String(at)));
    return name === "allOf" ? members : [widen(members)];
  }
  if (name === "then" || name === "else") {
    // It may hold or not: its fields are worth knowing, none of them is needed.
    const { properties } = child(held);
    return isRecord(properties) ? [{ properties: withoutSchemas(properties) }] : [];
  }
  return [];
}

function relaxTarget(run: Run, reference: string, place: Place): Node {
  const found = run.references.locate(reference, "");
  if (found === undefined) return {};
  if (place.within.includes(found.pointer)) {
    const { type } = isRecord(found.node) ? found.node : {};
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    return withNote(run, type === undefined ? {} : { type }, `the same shape as ${name} again`);
  }
  return relaxNode(run, found.node, {
    pointer: found.pointer,
    within: [...place.within, found.pointer],
    depth: place.depth + 1,
  });
}

/** A schema for everything that any of these allows. */
function widen(branches: readonly Node[]): Node {
  const [first = {}] = branches;
  if (branches.every((branch) => sameJson(branch, first, { left: 1_000 }))) return first;
  const wide: Node = {};
  const types = branches.map((branch) => branch.type);
  if (types.every((type) => type !== undefined)) {
    const all = [...new Set(types.flat())];
    // An integer is a number.
    const real = all.includes("number") ? all.filter((type) => type !== "integer") : all;
    wide.type = real.length === 1 ? real[0] : real;
  }
  const enums = branches.map((branch) => branch.enum);
  if (enums.every(Array.isArray)) wide.enum = [...new Set(enums.flat() as unknown[])];
  const objects = branches.filter((branch) => mayBe(branch, "object"));
  if (objects.length > 0) Object.assign(wide, widenObjects(objects));
  const lists = branches.filter((branch) => mayBe(branch, "array"));
  const items = lists.map((list) => list.items);
  if (lists.length > 0 && items.every(isRecord)) wide.items = widen(items);
  return wide;
}

function mayBe({ type }: Node, wanted: string): boolean {
  return type === undefined || [type].flat().includes(wanted);
}

function widenObjects(objects: readonly Node[]): Node {
  const fields = new Map<string, Node[]>();
  for (const { properties } of objects) {
    for (const [key, node] of Object.entries(isRecord(properties) ? properties : {})) {
      fields.set(key, [...(fields.get(key) ?? []), isRecord(node) ? { ...node } : {}]);
    }
  }
  const [first = {}, ...others] = objects;
  const required = namesIn(first).filter((key) =>
    others.every((one) => namesIn(one).includes(key)),
  );
  const isClosed = objects.every(({ additionalProperties }) => additionalProperties === false);
  // A field that an open alternative does not name may hold anything there.
  const isNamedByAll = (count: number): boolean => isClosed || count === objects.length;
  const properties = [...fields].map(([key, nodes]) => [
    key,
    isNamedByAll(nodes.length) ? widen(nodes) : onlyNotes(nodes),
  ]);
  return omitUndefined({
    properties: properties.length === 0 ? undefined : (Object.fromEntries(properties) as Node),
    required: required.length === 0 ? undefined : required,
    additionalProperties: isClosed ? false : undefined,
  });
}

function onlyNotes(nodes: readonly Node[]): Node {
  const noted = nodes.find(({ description }) => typeof description === "string");
  return noted === undefined ? {} : { description: noted.description };
}

/** Both hold. Where they speak of the same thing the first one counts, which is looser than both. */
function narrow(one: Node, other: Node): Node {
  const both: Node = { ...other, ...one };
  const { properties } = one;
  if (isRecord(properties) && isRecord(other.properties)) {
    both.properties = { ...other.properties, ...properties };
  }
  const required = [...new Set([...namesIn(other), ...namesIn(one)])];
  if (required.length > 0) both.required = required;
  // Each closes only what it names itself.
  if (isRecord(other.properties) && isRecord(properties)) delete both.additionalProperties;
  return both;
}

function namesIn({ required }: Node): string[] {
  return Array.isArray(required) ? (required as string[]) : [];
}

/** The dropped keywords in the description, as JSON Schema, which models read. */
function describeDropped(run: Run, node: Node, dropped: Node): Node {
  const { $ref: _written, ...keywords } = dropped;
  if (Object.keys(keywords).length === 0) return node;
  const text = JSON.stringify(keywords);
  const note =
    text.length <= MAX_NOTE_CHARS
      ? `Must also match this JSON Schema: ${text}`
      : `Must also match a JSON Schema that begins: ${text.slice(0, MAX_NOTE_CHARS)}…`;
  return withNote(run, node, note);
}

function withNote(run: Run, node: Node, note: string): Node {
  if (run.chars < note.length) return node;
  run.chars -= note.length;
  const { description } = node;
  const before = typeof description === "string" && description !== "" ? `${description}\n` : "";
  return { ...node, description: `${before}(${note})` };
}

/** Of a schema that still has something in it that is not taken. */
function namesOnly({ properties, description }: Node): Node {
  return omitUndefined({
    type: "object",
    description: typeof description === "string" ? description : undefined,
    properties: isRecord(properties) ? withoutSchemas(properties) : undefined,
  });
}

function withoutSchemas(properties: Node): Node {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, {}]));
}
