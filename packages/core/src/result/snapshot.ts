// A copy of what a handler returned, as JSON of our own: the handler may keep its object and change it,
// the record may not. Plain data is copied directly; everything odd goes the long way through JSON text,
// which knows about toJSON, drops what JSON has no word for, and refuses cycles.

import type { JsonObject, JsonValue } from "@soong/schema";

export interface Snapshot {
  readonly value: JsonValue;
  /** How long the value is as text, at the most: cheap to tell, and enough to see that it is short. */
  readonly chars: number;
}

/** Deeper data is copied through text. */
const MAX_DEPTH = 64;

/** Undefined when the value has no JSON form at all (a function, a symbol). Throws where JSON.stringify does. */
export function snapshotOf(given: unknown): Snapshot | undefined {
  const counter = { chars: 0 };
  const copied = copy(given, counter, 0);
  if (copied !== ODD) return { value: copied, chars: counter.chars };
  const text: string | undefined = JSON.stringify(given);
  if (text === undefined) return undefined;
  return { value: JSON.parse(text) as JsonValue, chars: text.length };
}

const ODD = Symbol("not plain data");

function copy(given: unknown, counter: { chars: number }, depth: number): JsonValue | typeof ODD {
  switch (typeof given) {
    case "string":
      // A control character takes six.
      counter.chars += 6 * given.length + 2;
      return given;
    case "number":
      counter.chars += 25;
      return Number.isFinite(given) ? given : null;
    case "boolean":
      counter.chars += 5;
      return given;
    case "object":
      if (given === null) {
        counter.chars += 4;
        return null;
      }
      if (depth >= MAX_DEPTH) return ODD;
      return Array.isArray(given)
        ? copyList(given, counter, depth)
        : copyObject(given, counter, depth);
    case "bigint":
    case "function":
    case "symbol":
    case "undefined":
      return ODD;
  }
}

function copyList(
  given: readonly unknown[],
  counter: { chars: number },
  depth: number,
): JsonValue[] | typeof ODD {
  const list: JsonValue[] = [];
  for (const item of given) {
    const copied = copy(item, counter, depth + 1);
    if (copied === ODD) return ODD;
    counter.chars += 1;
    list.push(copied);
  }
  return list;
}

function copyObject(
  given: object,
  counter: { chars: number },
  depth: number,
): JsonObject | typeof ODD {
  const prototype: unknown = Object.getPrototypeOf(given);
  if ((prototype !== Object.prototype && prototype !== null) || "toJSON" in given) return ODD;
  const object: JsonObject = {};
  for (const key of Object.keys(given)) {
    const value = (given as Record<string, unknown>)[key];
    if (value === undefined) continue;
    // Assigned like any other key it would set the prototype.
    if (key === "__proto__") return ODD;
    const copied = copy(value, counter, depth + 1);
    if (copied === ODD) return ODD;
    counter.chars += 6 * key.length + 4;
    object[key] = copied;
  }
  return object;
}

/** Some JSON for any value: what a schema of the author's made of an input may be anything. */
export function recordable(given: unknown): JsonValue {
  try {
    const snapshot = snapshotOf(given);
    if (snapshot !== undefined) return snapshot.value;
  } catch {
    // A big integer or a cycle inside: told below as well as it can be.
  }
  try {
    const text = JSON.stringify(given, (_key, value: unknown) =>
      typeof value === "bigint" ? value.toString() : value,
    ) as string | undefined;
    if (text !== undefined) return JSON.parse(text) as JsonValue;
  } catch {
    // Nothing of it can be written down.
  }
  return "(a value that is not JSON)";
}
