// Text cut to a bound, never through the middle of a surrogate pair.

function headOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(chars - 1)) ? chars - 1 : chars);
}

/** One line of at most `chars` characters; what is cut off leaves an ellipsis. */
export function oneLine(text: string, chars: number): string {
  // Looks at no more than can matter: a message may be megabytes of text.
  const line = headOf(text, chars * 8)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const isWhole = line.length <= chars && text.length <= chars * 8;
  return isWhole ? line : `${headOf(line, chars - 1).trimEnd()}…`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
