// How much of a long text is shown: up to a line's end near the limit, never half a character.

import { isHighSurrogate } from "@soong/core/internal";

/** Where a text of which `from` characters are shown is cut next. */
export function nextCut(text: string, from: number, step: number): number {
  const wanted = from + step;
  if (wanted >= text.length) return text.length;
  const lineEnd = text.lastIndexOf("\n", wanted);
  // A line's end far before it would show hardly more than was there.
  if (lineEnd > from + step / 2) return lineEnd + 1;
  const isHalf = isHighSurrogate(text.charCodeAt(wanted - 1));
  return isHalf ? wanted + 1 : wanted;
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
