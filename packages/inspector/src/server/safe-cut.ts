// Where a text may be cut without a secret being cut in two: half of one is not recognised. A cut is safe when hiding
// secrets on each side of it gives the same as hiding them in the whole.

import { isLowSurrogate } from "@soong/schema";

export type Redact = (text: string) => string;

/** Longer than any secret: a private key of 16 384 bits has about 13 000 characters. */
export const MARGIN = 16 * 1024;

export function isSafeCut(text: string, at: number, redact: Redact): boolean {
  const left = text.slice(Math.max(0, at - MARGIN), at);
  const right = text.slice(at, at + MARGIN);
  return left === "" || right === "" || redact(left) + redact(right) === redact(left + right);
}

/** The nearest safe cut at or before `at`, in growing steps; `at` where there is none within the margin. */
export function safeCut(text: string, at: number, redact: Redact): number {
  for (let back = 0; back <= MARGIN && back <= at; back = back === 0 ? 64 : back * 4) {
    const cut = betweenCharacters(text, at - back);
    if (isSafeCut(text, cut, redact)) return cut;
  }
  const first = betweenCharacters(text, Math.max(0, at - MARGIN));
  return isSafeCut(text, first, redact) ? first : at;
}

/** The next safe cut after `at`, in growing steps; the end where there is none. */
export function safeCutAfter(text: string, at: number, redact: Redact): number {
  for (let on = 0; at + on < text.length; on = on === 0 ? 64 : on * 4) {
    const cut = betweenCharacters(text, at + on);
    if (isSafeCut(text, cut, redact)) return cut;
  }
  return text.length;
}

/** Not between the halves of a surrogate pair. */
function betweenCharacters(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) && at > 0 ? at - 1 : at;
}
