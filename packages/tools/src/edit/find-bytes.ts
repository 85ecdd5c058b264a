// Finds bytes in bytes in linear time. The platform's own search is the fastest there is for what files
// and edits look like, but its time is the product of both lengths where both repeat themselves; a long
// text is therefore searched for by a short piece of it, and step by step where that misleads too often.

/** Gives the first place at or after an offset, or -1. */
export function bytesFinder(bytes: Buffer, wanted: Buffer): (from: number) => number {
  if (wanted.length <= PIECE_BYTES) return (from) => bytes.indexOf(wanted, from);
  const offset = tellingPiece(wanted);
  const piece = wanted.subarray(offset, offset + PIECE_BYTES);
  let misled = 0;
  let stepwise: ((from: number) => number) | undefined;
  return (from) => {
    let start = from;
    while (misled < MOST_MISLED) {
      start = bytes.indexOf(piece, start + offset) - offset;
      if (start < from || start + wanted.length > bytes.length) return -1;
      if (bytes.compare(wanted, 0, wanted.length, start, start + wanted.length) === 0) return start;
      misled += 1;
      start += 1;
    }
    stepwise ??= stepwiseFinder(bytes, wanted);
    return stepwise(start);
  };
}

const PIECE_BYTES = 32;
const PIECES_LOOKED_AT = 64;
const MOST_MISLED = 1000;

/** Where the piece with the most different bytes begins. */
function tellingPiece(wanted: Buffer): number {
  const last = wanted.length - PIECE_BYTES;
  const stride = Math.max(1, Math.floor(last / PIECES_LOOKED_AT));
  let best = { offset: 0, different: 0 };
  for (let offset = 0; offset <= last; offset += stride) {
    const different = new Set(wanted.subarray(offset, offset + PIECE_BYTES)).size;
    if (different > best.different) best = { offset, different };
  }
  return best.offset;
}

/** Knuth, Morris and Pratt: never looks at a byte of the file twice. */
function stepwiseFinder(bytes: Buffer, wanted: Buffer): (from: number) => number {
  const fallback = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = fallback[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    fallback[at] = length;
  }
  return (from) => {
    let matched = 0;
    for (let at = from; at < bytes.length; at += 1) {
      while (matched > 0 && bytes[at] !== wanted[matched]) matched = fallback[matched - 1] ?? 0;
      if (bytes[at] === wanted[matched]) matched += 1;
      if (matched === wanted.length) return at - matched + 1;
    }
    return -1;
  };
}

/** The number of the line, counted from 1, of an offset in a text. */
export function lineNumberAt(text: string, offset: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    number += 1;
  }
  return number;
}
