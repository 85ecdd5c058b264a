// Text of any kind and length as one line of bounded length, in whole characters.

/** Its line breaks and other controls become spaces. */
export function oneLine(text: string, most: number): string {
  // Cut before anything else: what comes from a model or a tool may be megabytes.
  const head = text
    .slice(0, 4 * most)
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  const isWhole = text.length <= 4 * most;
  if (isWhole && head.length <= most) return head;
  // A copy, so that the line does not keep a long text in memory.
  const characters = Array.from(head);
  if (isWhole && characters.length <= most) return characters.join("");
  return `${characters.slice(0, most - 1).join("")}…`;
}

/** Words as they are; any other value as JSON. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : (JSON.stringify(value) ?? "");
}
