// Most schemas use nothing but the plainest keywords, in the form that lowering would give them. One walk recognises and
// copies such a schema; reading, lowering and the search for marked fields then have nothing left to do. What is not
// recognised is not wrong: it is read in full.

import type { JsonSchema } from "./json.ts";
import { wordSet } from "./text.ts";

/** A deeply frozen copy; undefined where the full reading has to decide. */
export function copyPlainSchema(given: unknown): JsonSchema | undefined {
  const copy = copyNode(given, 0);
  if (copy === undefined || copy.type !== "object") return undefined;
  plain.add(copy);
  return copy;
}

/** Whether lowering would answer the schema as it is, and it has no pattern and no mark. */
export function isPlainSchema(schema: JsonSchema): boolean {
  return plain.has(schema);
}

const plain = new WeakSet<JsonSchema>();
const MAX_DEPTH = 32;
const MAX_FIELDS = 200;
/** Far below what a schema may have in all, so that none that is too large is taken. */
const MAX_TEXT = 20_000;

const TYPES: ReadonlySet<unknown> = wordSet("object string number integer boolean array");
const TEXTS = wordSet("type title description format default");
const COUNTS = wordSet("minLength maxLength minItems maxItems");
const NUMBERS = wordSet("minimum maximum default");
const FLAGS = wordSet("uniqueItems additionalProperties default");

function copyNode(node: unknown, depth: number): JsonSchema | undefined {
  if (typeof node !== "object" || node === null || depth > MAX_DEPTH) return undefined;
  const given = node as JsonSchema;
  if (Object.getPrototypeOf(given) !== Object.prototype || !TYPES.has(given.type)) return undefined;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    const held = given[name];
    let taken: unknown;
    if (typeof held === "string") {
      const isSaid = held !== "" || name === "default" || name === "format";
      const isMark = name === "format" && held === "password";
      if (TEXTS.has(name) && isSaid && !isMark && held.length <= MAX_TEXT) taken = held;
    } else if (typeof held === "number") {
      const isCount = COUNTS.has(name) && Number.isSafeInteger(held) && held >= 0;
      if (isCount || (NUMBERS.has(name) && Number.isFinite(held))) taken = held;
    } else if (typeof held === "boolean") {
      if (FLAGS.has(name)) taken = held;
    } else if (name === "properties") taken = copyFields(held, depth + 1);
    else if (name === "items" || name === "additionalProperties") taken = copyNode(held, depth + 1);
    else if (name === "required" || (name === "enum" && given.type === "string")) {
      taken = copyNames(held);
    }
    if (taken === undefined) return undefined;
    copy[name] = taken;
  }
  return Object.freeze(copy);
}

function copyFields(held: unknown, depth: number): JsonSchema | undefined {
  if (typeof held !== "object" || held === null) return undefined;
  const given = held as JsonSchema;
  if (Object.getPrototypeOf(given) !== Object.prototype) return undefined;
  const names = Object.keys(given);
  if (names.length > MAX_FIELDS) return undefined;
  const copy: Record<string, unknown> = {};
  for (const name of names) {
    const field = name === "__proto__" ? undefined : copyNode(given[name], depth);
    if (field === undefined || name.length > MAX_TEXT) return undefined;
    copy[name] = field;
  }
  return Object.freeze(copy);
}

/** At least one, each once. */
function copyNames(given: unknown): readonly string[] | undefined {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_FIELDS) return undefined;
  const names = new Set<string>();
  for (const name of given as unknown[]) {
    if (typeof name !== "string" || name.length > MAX_TEXT || names.has(name)) return undefined;
    names.add(name);
  }
  return Object.freeze([...names]);
}
