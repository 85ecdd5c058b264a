// Whether the items of a JSON array differ from each other, in time linear to their size. The usual
// pairwise comparison takes minutes on an array of objects that fits into one call's arguments.

/** The indexes of the first two equal items, or undefined. `spend` is told how much was read. */
export function findDuplicate(
  items: readonly unknown[],
  spend: (characters: number) => void,
): { first: number; second: number } | undefined {
  const seen = new Map<unknown, number>();
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    let key: unknown = item;
    if (typeof item === "object" && item !== null) key = `{}${canonicalText(item)}`;
    else if (typeof item === "string") key = `"${item}`;
    spend(typeof key === "string" ? key.length : 1);
    const first = seen.get(key);
    if (first !== undefined) return { first, second: index };
    seen.set(key, index);
  }
  return undefined;
}

/** JSON text with sorted keys: equal for equal values, whatever the order they were written in. */
function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const record = value as Record<string, unknown>;
  const members = Object.keys(record)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalText(record[key])}`);
  return `{${members.join(",")}}`;
}
