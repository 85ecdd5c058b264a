// Which fields of a schema are marked sensitive (REDACT-2): `"x-sensitive": true`, `writeOnly: true` or
// `format: "password"`. Ask the original schema: lowering strips the marks, models need not see them.

import { modernNode } from "./dialects.ts";
import { pointerTokens, isRecord, type JsonSchema, type SchemaNode } from "./json.ts";
import { isPlainSchema } from "./plain-schema.ts";
import { baseWithin, openReferences, type Target } from "./references.ts";
import { wordSet } from "./text.ts";
import { childSchemas, forEachSchema } from "./vocabulary.ts";

/** "*" is any item or field. */
export type SensitivePath = readonly string[];

const NONE: readonly SensitivePath[] = [];
const MAX_VISITS = 20_000;
/** How deep arguments may be: so far a schema that contains itself is followed. */
const MAX_DEPTH = 64;
const MAX_NESTING = 500;

/**
 * The paths of all marked fields. When in doubt a path covers more, never less: unlisted fields
 * (`additionalProperties`) are "*", which listed ones match too, and inside a schema that contains itself
 * a marked field is covered at every depth.
 */
export function sensitivePaths(schema: JsonSchema): readonly SensitivePath[] {
  if (isPlainSchema(schema)) return NONE;
  let hasMarks = false;
  forEachSchema(schema, (node) => (hasMarks ||= isMarked(node)));
  if (!hasMarks) return [];
  const references = openReferences(schema);
  const found = new Map<string, SensitivePath>();
  let left = MAX_VISITS;

  const visit = (given: SchemaNode, place: Place): void => {
    if (typeof given === "boolean" || !isRecord(given)) return;
    left -= 1;
    if (place.depth > MAX_NESTING) left = -1;
    if (left < 0) return;
    const base = baseWithin(given, place.pointer, place.base);
    const node = modernNode(given);
    if (isMarked(node)) found.set(JSON.stringify(place.path), place.path);

    for (const child of childSchemas(node, place.pointer)) {
      const { keyword, pointer } = child;
      let { path } = place;
      if (TO_KEY.has(keyword)) path = [...path, pointerTokens(pointer).at(-1) ?? "*"];
      else if (TO_ANY.has(keyword)) path = [...path, "*"];
      else if (!TO_SAME.has(keyword)) continue;
      visit(child.node, { ...place, pointer, base, path, depth: place.depth + 1 });
    }
    if (typeof node.$ref === "string") {
      const target = references.locate(node.$ref, base);
      if (target) follow(target, place);
    }
  };

  const follow = (target: Target, from: Place): void => {
    const entered = from.entered.get(target.pointer);
    if (entered === "again") return;
    // A second visit on the same way covers all further ones.
    const path =
      entered === undefined || from.path.includes(REPEAT) ? from.path : [...from.path, REPEAT];
    visit(target.node, {
      pointer: target.pointer,
      base: target.base,
      path,
      depth: from.depth + 1,
      entered: new Map(from.entered).set(target.pointer, entered === undefined ? "once" : "again"),
    });
  };

  const entered = new Map([["", "once"]] as const);
  visit(schema, { pointer: "", base: "", path: [], depth: 0, entered });
  // Too large to look through: then everything is.
  return left < 0 ? [[]] : [...found.values()].flatMap(atEveryDepth);
}

/** The mark for "any number of steps" while looking; it never leaves here. */
const REPEAT = "**";

function atEveryDepth(path: SensitivePath): SensitivePath[] {
  const at = path.indexOf(REPEAT);
  if (at < 0) return [path];
  const before = path.slice(0, at);
  const after = path.slice(at + 1).filter((step) => step !== REPEAT);
  return Array.from({ length: MAX_DEPTH - before.length }, (_, depth) => [
    ...before,
    ...Array.from({ length: depth }, () => "*"),
    ...after,
  ]);
}

/** Whether a place in a value is at or below one of the paths. */
export function isSensitive(paths: readonly SensitivePath[], place: readonly string[]): boolean {
  return paths.some(
    (path) =>
      path.length <= place.length &&
      path.every((step, index) => step === "*" || step === place[index]),
  );
}

type Place = {
  pointer: string;
  base: string;
  path: SensitivePath;
  depth: number;
  /** References followed on the way here. */
  entered: ReadonlyMap<string, "once" | "again">;
};

/** Keywords that lead to the key or index, to any item or field, or nowhere further. */
const TO_KEY = wordSet("properties prefixItems");
const TO_ANY = wordSet(
  "items contains unevaluatedItems additionalProperties unevaluatedProperties patternProperties",
);
const TO_SAME = wordSet("allOf anyOf oneOf if then else dependentSchemas");

function isMarked(node: JsonSchema): boolean {
  return node["x-sensitive"] === true || node.writeOnly === true || node.format === "password";
}
