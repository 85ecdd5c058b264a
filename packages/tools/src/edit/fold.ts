// Folds text to what stays the same when it is copied carelessly: no white space, no invisible
// characters, one kind of quote and dash, lower case. Two texts that fold alike differ only in such
// things. One byte a character, so that a large file is folded and searched in no time.

import { firstIndex } from "./patch-image.ts";

export interface FoldedText {
  bytes: Buffer;
  /** Position in the text of the folded byte at an offset. */
  positionOf: (offset: number) => number;
}

/** `as_zero`: every number folds to a single 0. `kept`: numbers stay what they are. */
export type Numbers = "as_zero" | "kept";

export function foldText(text: string, numbers: Numbers): FoldedText {
  const fold = (table ??= foldTable());
  const bytes = Buffer.allocUnsafe(text.length);
  const stops = new Uint32Array((text.length >> STOP_BITS) + 1);
  let written = 0;
  let inNumber = false;
  for (let at = 0; at < text.length; at += 1) {
    if ((at & STOP_MASK) === 0) stops[at >> STOP_BITS] = written;
    const byte = fold[text.charCodeAt(at)] ?? 0;
    const digit = numbers === "as_zero" && isDigit(byte);
    if (byte !== 0 && !(digit && inNumber)) {
      bytes[written] = digit ? ZERO : byte;
      written += 1;
    }
    inNumber = digit;
  }
  const positionOf = (offset: number): number => {
    const stop = firstIndex(stops.length, (one) => (stops[one] ?? 0) > offset) - 1;
    let at = stop << STOP_BITS;
    let left = offset - (stops[stop] ?? 0);
    let wasDigit = numbers === "as_zero" && isDigit(fold[text.charCodeAt(at - 1)] ?? 0);
    for (; at < text.length; at += 1) {
      const byte = fold[text.charCodeAt(at)] ?? 0;
      const digit = numbers === "as_zero" && isDigit(byte);
      if (byte !== 0 && !(digit && wasDigit) && (left -= 1) < 0) return at;
      wasDigit = digit;
    }
    return text.length;
  };
  return { bytes: bytes.subarray(0, written), positionOf };
}

/** The first that a character is. */
const KINDS = {
  invisible: /[\r\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/,
  space: /\s/,
  digit: /\d/,
  quote: /["'`´«»\u2018-\u201f\u2032-\u2036\u300c-\u300f\uff02\uff07]/,
  dash: /[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/,
  full_width: /[\uff01-\uff5e\u3001\u3002]/,
};

export type CharacterKind = keyof typeof KINDS | "other";

export function classifyCharacter(character: string): CharacterKind {
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  return kinds.find((kind) => KINDS[kind].test(character)) ?? "other";
}

/** Whether two characters stand for the same thing, written in different ways. */
export function foldsAlike(one: string, other: string): boolean {
  const fold = (table ??= foldTable());
  return fold[one.charCodeAt(0)] === fold[other.charCodeAt(0)];
}

const ZERO = 0x30;
/** Where the folded bytes of every so many characters begin is kept, to find the way back. */
const STOP_BITS = 10;
const STOP_MASK = (1 << STOP_BITS) - 1;

let table: Uint8Array | undefined;

/** The folded byte of each code unit, 0 for what is omitted. */
function foldTable(): Uint8Array {
  const fold = new Uint8Array(0x1_0000);
  for (let code = 0; code < fold.length; code += 1) fold[code] = foldedByte(code);
  return fold;
}

function foldedByte(code: number): number {
  const character = String.fromCharCode(code);
  switch (classifyCharacter(character)) {
    case "space":
    case "invisible":
      return 0;
    case "quote":
      return 0x22;
    case "dash":
      return 0x2d;
    case "full_width":
      return foldedByte(FULL_WIDTH_STOPS[character] ?? code - 0xfee0);
    case "digit":
    case "other": {
      const lower = character.toLowerCase().charCodeAt(0);
      // Beyond ASCII different characters may share a byte: what is found is compared again.
      return lower === 0 ? 1 : lower < 0x80 ? lower : 0x80 | ((lower * 37) & 0x7f);
    }
  }
}

const FULL_WIDTH_STOPS: Readonly<Record<string, number>> = { "\u3001": 0x2c, "\u3002": 0x2e };

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}
