// Tells the encoding of bytes by their content alone (CODE-1): a byte order mark decides, then whether
// they are UTF-8, then statistics. What holds NUL or many other control bytes is no text.

import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";
import {
  bomLength,
  decodesWhole,
  decodeText,
  LEGACY_ENCODINGS,
  type LegacyEncoding,
  type TextFormat,
} from "./text-format.ts";

/**
 * Kind and encoding are told by this much, so that a reader who has only the beginning and an editor who
 * has all come to the same; of the rest only whether it decodes is looked at, which is fast.
 */
const WINDOW_BYTES = 64 * 1024;

/** `complete`: these are all the bytes there are, so a character cut at their end is damage. */
export function detectFormat(sample: Uint8Array, complete: boolean): TextFormat {
  const marked = formatByMark(sample);
  if (marked !== undefined) return checkMarked(sample, marked, complete);
  const whole = complete ? sample : withoutCutCharacter(sample);
  if (isUtf8(whole)) {
    return looksBinary(sample, 1 / 10) ? BINARY : { encoding: "utf-8", bom: false, valid: true };
  }
  // Prose in an old encoding has next to no control bytes; compressed data soon has.
  if (looksBinary(sample, 1 / 50)) return BINARY;
  return formatByStatistics(sample, complete);
}

const BINARY: TextFormat = { encoding: "binary", bom: false, valid: false };

function formatByMark(sample: Uint8Array): TextFormat | undefined {
  const [first, second, third] = sample;
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return { encoding: "utf-8", bom: true, valid: true };
  }
  if (first === 0xff && second === 0xfe) return { encoding: "utf-16le", bom: true, valid: true };
  if (first === 0xfe && second === 0xff) return { encoding: "utf-16be", bom: true, valid: true };
  return undefined;
}

function checkMarked(sample: Uint8Array, format: TextFormat, complete: boolean): TextFormat {
  const text = sample.subarray(bomLength(format));
  if (format.encoding === "utf-8") {
    if (looksBinary(text, 1 / 10)) return BINARY;
    return { ...format, valid: isUtf8(complete ? text : withoutCutCharacter(text)) };
  }
  // A unit of zero is no text either. It also gives away UTF-32, whose mark begins the same way.
  if (hasZeroUnit(text)) return BINARY;
  return { ...format, valid: decodesWhole(sample, format, complete) };
}

/**
 * UTF-8 with some damage, or an older encoding. The statistics see only the first window, or where
 * that is plain ASCII the one with the first bytes that are not.
 */
function formatByStatistics(sample: Uint8Array, complete: boolean): TextFormat {
  const from = sample.length <= WINDOW_BYTES ? 0 : windowStart(sample);
  const window = sample.subarray(from, from + WINDOW_BYTES);
  const isEnd = complete && from + WINDOW_BYTES >= sample.length;
  if (isMostlyUtf8(window)) return { encoding: "utf-8", bom: false, valid: false };
  for (const { name, confidence } of analyse(window)) {
    const encoding = legacyOf(name);
    if (encoding === undefined || confidence <= NO_CONFIDENCE) continue;
    const format: TextFormat = { encoding, bom: false, valid: true };
    if (!decodesWhole(window, format, isEnd)) continue;
    return { ...format, valid: decodesWhole(sample, format, complete) };
  }
  // Every byte has a meaning in it, and it is what most such files are in.
  return { encoding: "windows-1252", bom: false, valid: true };
}

function windowStart(sample: Uint8Array): number {
  const first = sample.findIndex((byte) => byte >= 0x80);
  return first < WINDOW_BYTES ? 0 : first;
}

/** Out of 100: what statistics give any encoding in which a few bytes are not plainly wrong. */
const NO_CONFIDENCE = 10;

/** Other encodings now and then contain what could be UTF-8; damaged UTF-8 mostly does. */
function isMostlyUtf8(window: Uint8Array): boolean {
  const text = decodeText(window, { encoding: "utf-8", bom: false, valid: false });
  let intact = 0;
  let damaged = 0;
  for (const [character] of text.matchAll(/[^\0-\x7f]/gu)) {
    if (character === "\ufffd") damaged += 1;
    else intact += 1;
  }
  return intact > damaged;
}

function legacyOf(name: string): LegacyEncoding | undefined {
  const label = name.toLowerCase();
  const encoding = SUPERSETS[label] ?? label;
  return LEGACY_ENCODINGS.find((known) => known === encoding);
}

/** As browsers read them: the larger encoding that the declared one is a part of. */
const SUPERSETS: Readonly<Record<string, LegacyEncoding>> = {
  "iso-8859-1": "windows-1252",
  "iso-8859-9": "windows-1254",
};

/** NUL settles it; other bytes no text has, such as those of terminals and printers, by their share. */
function looksBinary(sample: Uint8Array, share: number): boolean {
  const window = sample.subarray(0, WINDOW_BYTES);
  if (window.includes(0)) return true;
  let controls = 0;
  for (const byte of window) {
    // Bell to carriage return, end of file (DOS) and escape do occur in text.
    if (byte < 0x20 && (byte < 0x07 || (byte > 0x0d && byte !== 0x1a && byte !== 0x1b))) {
      controls += 1;
    } else if (byte === 0x7f) {
      controls += 1;
    }
  }
  return controls > window.length * share;
}

function hasZeroUnit(text: Uint8Array): boolean {
  const window = text.subarray(0, WINDOW_BYTES);
  for (let at = window.indexOf(0); at !== -1; at = window.indexOf(0, at + 1)) {
    if (at % 2 === 0 && window[at + 1] === 0) return true;
  }
  return false;
}

/** Up to three bytes shorter, when the last UTF-8 character is not all there. */
function withoutCutCharacter(sample: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= sample.length; back += 1) {
    const byte = sample[sample.length - back] ?? 0;
    if (byte < 0x80) return sample;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? sample.subarray(0, sample.length - back) : sample;
    }
  }
  return sample;
}
