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

/** White space of any kind and length becomes one space. Hidden characters stay, to be written out where the text is shown. */
export function collapseSpace(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/**
 * As one line of at most `most` UTF-16 units: white space, controls and marks that a terminal would obey become one space, and
 * none at either end. What is cut off leaves an ellipsis.
 */
export function oneLine(text: string, most = Infinity): string {
  // Looks at no more than can matter: a message may be megabytes of text.
  const head = firstChars(text, most * 8);
  const line = head.replaceAll(BLANK, " ").trim();
  if (line.length <= most && head.length === text.length) return line;
  return `${firstChars(line, most - 1).trimEnd()}…`;
}

/** But for the joiners that real scripts and emoji need. */
const BLANK = /(?:(?![\u200C\u200D])[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}])+/gu;

/** The bytes of a text in UTF-8, where a lone half of a character becomes U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // Two units of one character are four bytes.
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;
  }
  return bytes;
}

/** The words of a text, for the tables of keywords. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
