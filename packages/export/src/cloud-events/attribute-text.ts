// Text that CloudEvents accepts as the value of an attribute: ids and names come from models, too.

/** Controls, halves of characters and what Unicode says is no character. */
const REFUSED = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
const ALL_REFUSED = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu;
/** Not `.` and `..`, which lead to another path. */
const PLAIN = /^(?!\.{1,2}$)[\w.~-]+$/u;

/** Undefined where it is no text, or an empty one. What is not accepted becomes U+FFFD. */
export function cleanAttribute(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return REFUSED.test(value) ? value.replaceAll(ALL_REFUSED, "\uFFFD") : value;
}

/** The path with one more segment, which is clean text. */
export function createPath(path: string, segment: string): string {
  return `${path}/${PLAIN.test(segment) ? segment : encodeSegment(segment)}`;
}

function encodeSegment(segment: string): string {
  return segment === "." || segment === ".."
    ? segment.replaceAll(".", "%2E")
    : encodeURIComponent(segment);
}
