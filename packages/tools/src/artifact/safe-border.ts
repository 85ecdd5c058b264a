// Where a text may be cut so that no secret is cut in two: half a secret is not recognised as one. A
// border is safe when hiding secrets on each side by itself gives the same as hiding them in the whole.

import { isLowSurrogate } from "@soong/schema";

/** Longer than any secret we know of: a private key of 16 384 bits has about 13 000 characters. */
export const MARGIN = 16 * 1024;

/** The last safe place at or before `at`, going back at most `MARGIN`; `at` itself when there is none. */
export function safeBorder(text: string, at: number, redact: (text: string) => string): number {
  const first = Math.max(0, at - MARGIN);
  for (let back = 0; at - back >= first; back = back === 0 ? 16 : back * 4) {
    const border = wholeCharacter(text, at - back);
    if (isSafe(text, border, redact)) return border;
  }
  return isSafe(text, first, redact) ? wholeCharacter(text, first) : at;
}

function isSafe(text: string, border: number, redact: (text: string) => string): boolean {
  const left = text.slice(Math.max(0, border - MARGIN), border);
  const right = text.slice(border, border + MARGIN);
  return left === "" || right === "" || redact(left) + redact(right) === redact(left + right);
}

/** Not between the halves of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at;
}
