// One escape of JSON, of a URL or of a form, read at its place: the character it stands for and where it
// ends.

import { matchAt } from "./match-at.ts";

export interface Escape {
  char: string;
  end: number;
}

/**
 * However many backslashes stand in a row: JSON within JSON doubles them. Before anything but a letter
 * or digit they only quote it, so there they are dropped, from values too.
 */
export function readEscape(text: string, at: number, percentIsSign: boolean): Escape | undefined {
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
      // `\u005c` is a backslash by itself: the escape after it is another character.
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
  const more = continuationsOf(first.byte);
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
function continuationsOf(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

function readByte(text: string, at: number): { byte: number; end: number } | undefined {
  const match = matchAt(PERCENT_BYTE, text, at);
  if (match === null) return undefined;
  return { byte: Number.parseInt(match[1] as string, 16), end: at + match[0].length };
}
