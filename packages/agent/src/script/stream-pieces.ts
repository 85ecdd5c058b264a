// How a whole text comes in a stream: in pieces that give the text again when joined. Bounded in number, so
// that a long text costs no more events than a provider would send.

import { isHighSurrogate } from "@soong/schema";

const MAX_PIECES = 64;

/** Word by word; a long text several words at a time. */
export function wordPieces(text: string): string[] {
  const least = text.length / MAX_PIECES;
  const pieces: string[] = [];
  let piece = "";
  for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
    piece += word;
    if (piece.length < least) continue;
    pieces.push(piece);
    piece = "";
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

const ARGUMENT_PIECES = 8;
const LEAST_ARGUMENT_CHARS = 6;

/** Anywhere but inside a character. Always at least one: a call without arguments is announced too. */
export function argumentPieces(text: string): string[] {
  const size = Math.max(LEAST_ARGUMENT_CHARS, Math.ceil(text.length / ARGUMENT_PIECES));
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start + size;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.length === 0 ? [""] : pieces;
}
