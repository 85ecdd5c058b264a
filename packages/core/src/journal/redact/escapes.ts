// A text with its escapes of JSON, URLs and forms read, and the way from a place in it to the same place in the source.

import { lastBefore, matchAt } from "./spans.ts";

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
  const next = createFinder(source, signs);
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
    sourceStart: (at) => findSource(at, "from"),
    sourceEnd: (at) => findSource(at - 1, "to"),
  };

  function findSource(at: number, side: "from" | "to"): number {
    const escape = lastBefore(escapes, at + 1);
    const after = side === "to" ? 1 : 0;
    if (escape === undefined) return at + after;
    return at < escape.end ? escape[side] : escape.to + (at - escape.end) + after;
  }
}

/** Where the next of these characters is, at or after a place that only moves forward; -1 for none. */
function createFinder(text: string, chars: readonly string[]): (from: number) => number {
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

interface Escape {
  char: string;
  end: number;
}

/**
 * However many backslashes stand in a row: JSON within JSON doubles them. Before anything but a letter
 * or digit they only quote it, so there they are dropped, from values too.
 */
function readEscape(text: string, at: number, percentIsSign: boolean): Escape | undefined {
  if (text.charAt(at) === "+") return { char: "+", end: at + 1 };
  let end = at;
  let spelledOut = -1;
  for (;;) {
    const encoded = percentIsSign && text.charAt(end) === "%" ? readPercent(text, end) : undefined;
    const char = encoded?.char ?? text.charAt(end);
    const after = encoded?.end ?? end + 1;
    if (char === "\\") {
      end = after;
    } else if (end === at) {
      return encoded;
    } else if (char === "u") {
      const code = matchAt(FOUR_HEX, text, after)?.[0];
      if (code === undefined) return { char: "\\", end };
      const unit = String.fromCharCode(Number.parseInt(code, 16));
      end = after + 4;
      if (unit === "\\") {
        spelledOut = end;
        continue;
      }
      // `\u005c` is a backslash alone: the escape after it is another character.
      if (spelledOut === -1 || !ALPHANUMERIC.test(unit)) return { char: unit, end };
      const control = CONTROLS.get(unit);
      return control === undefined ? { char: "\\", end: spelledOut } : { char: control, end };
    } else {
      const control = CONTROLS.get(char);
      if (control !== undefined) return { char: control, end: after };
      // At the end of the text there is nothing they could quote.
      return ALPHANUMERIC.test(char)
        ? { char: "\\", end }
        : { char, end: Math.min(after, text.length) };
    }
  }
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

const ALPHANUMERIC = /^[A-Za-z0-9]/;
const FOUR_HEX = /[0-9A-Fa-f]{4}/y;
const PERCENT_BYTE = /%(?:25)*([0-9A-Fa-f]{2})/y;

/** A percent-encoded character, its percent signs perhaps encoded again. */
function readPercent(text: string, at: number): Escape | undefined {
  const first = readByte(text, at);
  if (first === undefined) return undefined;
  // Two digits that are no UTF-8 stand for themselves.
  const sign = { char: "%", end: first.end - 2 };
  const more = countContinuations(first.byte);
  if (more === -1) return sign;
  let code = more === 0 ? first.byte : first.byte & (0x3f >> more);
  let { end } = first;
  for (let i = 0; i < more; i += 1) {
    const next = readByte(text, end);
    if (next === undefined || next.byte >> 6 !== 2) return sign;
    code = (code << 6) | (next.byte & 0x3f);
    end = next.end;
  }
  return code > 0x10ffff ? sign : { char: String.fromCodePoint(code), end };
}

/** How many bytes of UTF-8 follow this one; -1 if it cannot be a first one. */
function countContinuations(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

function readByte(text: string, at: number): { byte: number; end: number } | undefined {
  const match = matchAt(PERCENT_BYTE, text, at);
  if (match === null) return undefined;
  return { byte: Number.parseInt(match[1] as string, 16), end: at + match[0].length };
}
