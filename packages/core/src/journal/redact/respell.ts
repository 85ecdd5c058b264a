// A text with its escapes read, and the way from a place in it to the same place in the source. What an
// escape is, is not decided here.

import { readEscape } from "./escapes.ts";
import { lastBefore } from "./span.ts";

export interface Respelled {
  readonly text: string;
  readonly isChanged: boolean;
  /** Where in the source the character at this place begins. */
  sourceStart(at: number): number;
  /** Where in the source the character before this place ends. */
  sourceEnd(at: number): number;
}

/** Escapes of characters that are not wanted are left as they stand: most are line ends and quotes. */
export function respell(
  source: string,
  signs: readonly string[],
  wanted?: ReadonlySet<string>,
): Respelled {
  const escapes: { start: number; end: number; from: number; to: number }[] = [];
  const parts: string[] = [];
  let length = 0;
  let copied = 0;
  const next = nextOf(source, signs);
  const plusIsSpace = signs.includes("+");
  const percentIsSign = signs.includes("%");
  for (let at = next(0); at !== -1;) {
    const escape = readEscape(source, at, percentIsSign);
    const char = plusIsSpace && escape?.char === "+" ? " " : escape?.char;
    if (escape !== undefined && char !== undefined && (wanted?.has(char) ?? true)) {
      parts.push(source.slice(copied, at), char);
      const start = length + at - copied;
      length = start + char.length;
      escapes.push({ start, end: length, from: at, to: escape.end });
      copied = escape.end;
    }
    at = next(escape?.end ?? at + 1);
  }
  parts.push(source.slice(copied));
  return {
    text: parts.join(""),
    isChanged: escapes.length > 0,
    sourceStart: (at) => sourceOf(at, "from"),
    sourceEnd: (at) => sourceOf(at - 1, "to"),
  };

  function sourceOf(at: number, side: "from" | "to"): number {
    const escape = lastBefore(escapes, at + 1);
    const after = side === "to" ? 1 : 0;
    if (escape === undefined) return at + after;
    return at < escape.end ? escape[side] : escape.to + (at - escape.end) + after;
  }
}

/** Where the next of these characters stands, at or after a place that only moves forward; -1 for none. */
function nextOf(text: string, chars: readonly string[]): (from: number) => number {
  const places = chars.map(() => -2);
  return (from) => {
    let nearest = -1;
    for (let i = 0; i < places.length; i += 1) {
      let place = places[i] as number;
      if (place !== -1 && place < from) {
        place = places[i] = text.indexOf(chars[i] as string, from);
      }
      if (place !== -1 && (nearest === -1 || place < nearest)) nearest = place;
    }
    return nearest;
  };
}
