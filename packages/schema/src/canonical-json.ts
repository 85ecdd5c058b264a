// Canonical JSON: the same value gives the same text on every machine, keys sorted, no white space.

/** The JSON text of a value with the keys of every object in order. Depth is bounded before anything reaches this (SCHEMA-8). */
export function canonicalJson(value: unknown): string {
  const walk = { isExact: true };
  const ordered = inKeyOrder(value, walk);
  // The engine writes plain data far faster than we can.
  return walk.isExact ? (JSON.stringify(ordered) ?? "null") : spelledOut(value);
}

/** A copy with the keys of every object in order, unless an object could not keep them in that order. */
function inKeyOrder(value: unknown, walk: { isExact: boolean }): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "symbol" ? null : value;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const item of value) list.push(typeof item === "string" ? item : inKeyOrder(item, walk));
    return list;
  }
  const held = value as Readonly<Record<string, unknown>>;
  const ordered: Record<string, unknown> = {};
  for (const key of sortNames(Object.keys(held))) {
    const item = held[key];
    const kind = typeof item;
    if (kind === "undefined" || kind === "function") continue;
    // Indices come first in any object, no matter in which order they were set; and one key is no key.
    const first = key.charCodeAt(0);
    if ((first >= 0x30 && first <= 0x39) || key === "__proto__") walk.isExact = false;
    ordered[key] = kind === "object" || kind === "symbol" ? inKeyOrder(item, walk) : item;
  }
  return ordered;
}

/** Of few names in place. Most objects have few keys, for which this takes half the time of the engine's sort. */
function sortNames(names: string[]): string[] {
  if (names.length > 16) return names.toSorted();
  for (let i = 1; i < names.length; i += 1) {
    const name = names[i] as string;
    let at = i;
    for (; at > 0 && (names[at - 1] as string) > name; at -= 1) {
      names[at] = names[at - 1] as string;
    }
    names[at] = name;
  }
  return names;
}

function spelledOut(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => spelledOut(item)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined && typeof item !== "function")
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${spelledOut(item)}`);
    return `{${entries.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
