// Which call ids are the provider's own. Its package makes ids up where they are missing or repeated, so the
// raw events are asked: an id that is in none of them was made up, and is omitted (MODEL-3).

export interface NativeIds {
  /** Takes note of a raw event. */
  note(rawEvent: unknown): void;
  /** A package that shows no raw events is believed. */
  isNative(id: string): boolean;
}

export function createNativeIds(): NativeIds {
  const ids = new Set<string>();
  let shown = false;
  return {
    note(rawEvent) {
      shown = true;
      collect(rawEvent, ids, 0);
    },
    isNative: (id) => id !== "" && (!shown || ids.has(id)),
  };
}

const ID_FIELDS: ReadonlySet<string> = new Set(["id", "call_id", "item_id"]);
/** Deeper than any provider's events; arguments of calls are texts or lie further down. */
const MAX_DEPTH = 8;

function collect(value: unknown, ids: Set<string>, depth: number): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [field, inner] of Object.entries(value)) {
    if (typeof inner === "string") {
      if (ID_FIELDS.has(field)) ids.add(inner);
    } else collect(inner, ids, depth + 1);
  }
}
