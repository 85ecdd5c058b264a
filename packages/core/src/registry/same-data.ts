// Whether two pieces of plain data are the same, the order of keys aside.

import { isPlainRecord } from "@soong/schema";

/** Plain data only: of anything else nobody knows what it would be as JSON. */
export function sameData(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return a === b && typeof a !== "function";
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameData(item, b[index]));
  }
  if (!isPlainRecord(a) || !isPlainRecord(b) || "toJSON" in a || "toJSON" in b) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameData(a[key], b[key]));
}
