// The context of a run as everybody sees it (DEF-8): a copy nobody holds another handle on, frozen all the
// way down, so that a modifier is the only way to change it.

import type { JsonObject, JsonValue } from "../schema/index.ts";
import type { RunContext } from "../tool/index.ts";

/** Throws where JSON does: on a cycle, or a number that has no end. */
export function frozenContext(context: object): RunContext {
  return frozen(JSON.parse(JSON.stringify(context)) as JsonObject) as JsonObject;
}

export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function frozen(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  for (const item of Object.values(value)) frozen(item);
  Object.freeze(value);
  return value;
}
