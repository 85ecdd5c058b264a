// Ranges and lines of a decoded text.

export interface Range {
  from: number;
  to: number;
}

export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Where the line break is, or the text ends. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Cutting a text can leave half a character at either end, which not every reader of JSON takes. */
export function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
