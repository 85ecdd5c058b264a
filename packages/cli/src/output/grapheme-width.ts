// What a reader sees as one character, and how many columns of a terminal it takes. Terminals differ on a few
// emoji; nothing here may rest on more than that a line of so many columns is about that wide.

import { isLowSurrogate } from "@soong/schema";

export function splitGraphemes(text: string): string[] {
  // Most text by far; and taking it apart properly is slow.
  if (ONE_EACH.test(text)) return text.split("");
  if (text.length <= LONGEST_PIECE) {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
    return Array.from(segmenter.segment(text), ({ segment }) => segment);
  }
  // Of a long text, each step of the segmenter takes longer than the last.
  const graphemes: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = borderNear(text, from + LONGEST_PIECE);
    for (const grapheme of splitGraphemes(text.slice(from, to))) graphemes.push(grapheme);
    from = to;
  }
  return graphemes;
}

/** Behind a plain character and before another, if there is such a place shortly before this one. */
export function borderNear(text: string, place: number): number {
  if (place >= text.length) return text.length;
  for (let at = place; at > place - LONGEST_PIECE / 2; at -= 1) {
    if (PLAIN_PAIR.test(text.slice(at - 1, at + 1))) return at;
  }
  return isLowSurrogate(text.charCodeAt(place)) ? place - 1 : place;
}

/** In columns. Control characters have none. */
export function measureWidth(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length;
  return splitGraphemes(text).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0);
}

export function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && ONE_COLUMN_EACH.test(grapheme)) return 1;
  if (EMOJI.test(grapheme)) return 2;
  // A letter with marks, or several letters that are written as one: terminals add them up.
  let width = 0;
  for (const character of grapheme) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  return code >= FIRST_WIDE && WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Made when it is first needed: most commands print plain text alone. */
let segmenter: Intl.Segmenter | undefined;

const LONGEST_PIECE = 1024;
const PLAIN_PAIR = /^[\u0020-\u007e]{2}$/;
const ONE_EACH = /^[\t\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;
const ONE_COLUMN_EACH = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;

/* Shown as a picture alone, made one by U+FE0F, or a flag of two letters. */
const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f|[0-9#*]\ufe0f|\p{Regional_Indicator}{2})/u;

/* Marks above and below, what only steers the layout, and the parts of a Hangul syllable behind its first. */
const NO_WIDTH = /^(?:[\p{Mn}\p{Me}\p{Cc}\u1160-\u11ff]|(?!\u00ad)\p{Cf})$/u;

const FIRST_WIDE = 0x1100;

/* East Asian Wide and Fullwidth, whole blocks; the emoji among them are found above. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];
