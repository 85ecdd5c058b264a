// The walk through a value: every text and key in it is redacted, sensitive fields go whole. Copies only
// where something was found.

import type { JsonValue } from "@soong/schema";
import type { RedactionScope } from "./find-secrets.ts";
import { MIN_LENGTH } from "./known-secret.ts";
import { MAX_DEPTH, SENSITIVE, TOO_DEEP } from "./placeholders.ts";
import type { Trail } from "./restore-trail.ts";

/** Where sensitive fields are; `*` stands for any key or index. */
export type SensitivePaths = readonly (readonly string[])[];

interface ValueRedactorParts {
  /** Whether `redactText` would leave the text alone. */
  readonly isClean: (text: string, scope: RedactionScope) => boolean;
  readonly redactText: (text: string, scope: RedactionScope, trail?: Trail) => string;
  /** Whether any known value could stand there as a number. */
  readonly mayBeNumber: () => boolean;
  /** Called for whatever goes unread. */
  readonly onHidden: () => void;
}

type RedactValue = (
  value: JsonValue,
  scope: RedactionScope,
  sensitive: SensitivePaths,
  trail?: Trail,
) => JsonValue;

export function createValueRedactor(parts: ValueRedactorParts): RedactValue {
  const { isClean, redactText, mayBeNumber, onHidden } = parts;

  return function redactValue(value, scope, sensitive, trail) {
    // Nearly every value is: looking costs no copy, no trail and no closure.
    if (trail === undefined && sensitive.length === 0 && holdsNothing(value, scope, 0))
      return value;
    return sensitive.some((path) => path.length === 0)
      ? hide(value, SENSITIVE)
      : walk(value, sensitive, 0);

    function walk(node: JsonValue, paths: SensitivePaths, depth: number): JsonValue {
      if (typeof node === "string") return redactText(node, scope, trail);
      if (typeof node === "number") return mayBeNumber() ? redactNumber(node) : node;
      if (typeof node !== "object" || node === null) return node;
      if (depth === MAX_DEPTH) return hide(node, TOO_DEEP);
      return Array.isArray(node) ? walkArray(node, paths, depth) : walkObject(node, paths, depth);
    }

    function walkArray(node: JsonValue[], paths: SensitivePaths, depth: number): JsonValue {
      let copy: JsonValue[] | undefined;
      for (let i = 0; i < node.length; i += 1) {
        const item = node[i] as JsonValue;
        const clean = walkItem(item, i, paths, depth);
        if (clean !== item) (copy ??= [...node])[i] = clean;
      }
      return copy ?? node;
    }

    function walkObject(
      node: { readonly [key: string]: JsonValue },
      paths: SensitivePaths,
      depth: number,
    ): JsonValue {
      const keys = Object.keys(node);
      let entries: [string, JsonValue][] | undefined;
      let renamed: Map<string, string> | undefined;
      for (let index = 0; index < keys.length; index += 1) {
        const key = keys[index] as string;
        const item = node[key] as JsonValue;
        const clean = walkItem(item, key, paths, depth);
        let cleanKey = redactText(key, scope, trail);
        if (cleanKey !== key) {
          renamed ??= new Map();
          cleanKey = freeKey(cleanKey, node, renamed);
          renamed.set(cleanKey, key);
        }
        if (entries === undefined && (clean !== item || cleanKey !== key)) {
          entries = keys.slice(0, index).map((name) => [name, node[name] as JsonValue]);
        }
        entries?.push([cleanKey, clean]);
      }
      if (entries === undefined) return node;
      // Unlike assignment, this takes a key such as __proto__ for a key.
      const copy = Object.fromEntries(entries);
      if (renamed !== undefined) trail?.noteRenamed(copy, renamed);
      return copy;
    }

    function walkItem(
      item: JsonValue,
      key: string | number,
      paths: SensitivePaths,
      depth: number,
    ): JsonValue {
      if (paths.length === 0) return walk(item, paths, depth + 1);
      const name = String(key);
      const below = paths.filter((path) => path[depth] === name || path[depth] === "*");
      const isSensitive = below.some((path) => path.length === depth + 1);
      return isSensitive && item !== undefined
        ? hide(item, SENSITIVE)
        : walk(item, below, depth + 1);
    }

    function redactNumber(node: number): JsonValue {
      const text = String(node);
      const clean = redactText(text, scope);
      return clean === text ? node : noted(clean, node);
    }

    function hide(node: JsonValue, placeholder: string): JsonValue {
      if (node === placeholder) {
        trail?.noteLiterals(placeholder);
        return node;
      }
      onHidden();
      return noted(placeholder, node);
    }

    function noted(placeholder: string, node: JsonValue): string {
      trail?.noteMade(placeholder, node);
      return placeholder;
    }
  };

  function holdsNothing(node: JsonValue, scope: RedactionScope, depth: number): boolean {
    if (typeof node === "string") return node.length < MIN_LENGTH || isClean(node, scope);
    if (typeof node === "number") return !mayBeNumber();
    if (typeof node !== "object" || node === null) return true;
    if (depth === MAX_DEPTH) return false;
    if (Array.isArray(node)) {
      for (const item of node) if (!holdsNothing(item, scope, depth + 1)) return false;
      return true;
    }
    // In records of ours and plain data nothing is inherited; a list of the keys would cost more than the look.
    for (const key in node) {
      if (key.length >= MIN_LENGTH && !isClean(key, scope)) return false;
      if (!holdsNothing(node[key] as JsonValue, scope, depth + 1)) return false;
    }
    return true;
  }
}

/** Two keys may get one placeholder; neither entry may be lost for it. */
function freeKey(key: string, node: object, renamed: ReadonlyMap<string, string>): string {
  let free = key;
  for (let n = renamed.size; Object.hasOwn(node, free) || renamed.has(free); n += 1) {
    free = `${key}~${n}`;
  }
  return free;
}
