// Cutting text: in whole characters, never between the two halves of a surrogate pair.

/** The first half of a character of two UTF-16 units. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The second half of a character of two UTF-16 units. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** At most `most` UTF-16 units from the beginning of a text. */
export function firstChars(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most);
}

/** The text, or its beginning and an ellipsis; at most `most` UTF-16 units. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${firstChars(text, most - 1)}…` : text;
}

/** White space of any kind and length becomes one space, and none at either end. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
