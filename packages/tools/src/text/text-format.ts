// The way a text is written down as bytes, and from bytes to text and back. What does not decode becomes U+FFFD
// and nothing is thrown; whether that happened is asked separately. Old encodings have no encoder on this
// platform, so theirs is the decoder turned round.
// The encoding is recognised by the content alone (CODE-1): a byte order mark decides, then whether the bytes are UTF-8, then
// statistics. What holds NUL or many other control bytes is no text.

import { isUtf8 } from "node:buffer";
import { analyse } from "chardet";

/** Encodings older than Unicode that can be declared: one or two bytes a character, ASCII inside. */
export const LEGACY_ENCODINGS = [
  "windows-1250",
  "windows-1251",
  "windows-1252",
  "windows-1253",
  "windows-1254",
  "windows-1255",
  "windows-1256",
  "iso-8859-2",
  "iso-8859-5",
  "iso-8859-6",
  "iso-8859-7",
  "iso-8859-8",
  "koi8-r",
  "shift_jis",
  "euc-jp",
  "euc-kr",
  "gb18030",
  "big5",
] as const;

export type LegacyEncoding = (typeof LEGACY_ENCODINGS)[number];

export interface TextFormat {
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be" | LegacyEncoding | "binary";
  /** The bytes begin with a byte order mark, which is no part of the text. */
  readonly bom: boolean;
  /** Every byte looked at decodes. Of a sample it says nothing about the rest. */
  readonly valid: boolean;
}

/** How many bytes of the beginning are the byte order mark. */
export function bomLength({ encoding, bom }: TextFormat): number {
  if (!bom) return 0;
  return encoding === "utf-8" ? 3 : 2;
}

/** The text without its byte order mark. Of a piece from the middle, say `bom: false`. */
export function decodeText(bytes: Uint8Array, format: TextFormat): string {
  return decode(bytes, format, { fatal: false, complete: true });
}

/** Whether every byte decodes; unless `complete`, a character may be cut at the end. */
export function decodesWhole(bytes: Uint8Array, format: TextFormat, complete: boolean): boolean {
  if (format.encoding === "binary") return false;
  try {
    decode(bytes, format, { fatal: true, complete });
    return true;
  } catch {
    return false;
  }
}

function decode(
  marked: Uint8Array,
  format: TextFormat,
  how: { fatal: boolean; complete: boolean },
): string {
  const { encoding } = format;
  const bytes = marked.subarray(bomLength(format));
  if (encoding === "windows-1252") return decodeWindows1252(bytes);
  const label = encoding === "binary" ? "utf-8" : encoding;
  const decoder = new TextDecoder(label, { fatal: how.fatal, ignoreBOM: true });
  return decoder.decode(bytes, { stream: !how.complete });
}

/** Not by the platform's decoder, which in some versions of Node.js reads 0x80–0x9f as Latin-1. */
function decodeWindows1252(bytes: Uint8Array): string {
  return asBuffer(bytes)
    .toString("latin1")
    .replace(
      /[\x80-\x9f]/g,
      (character) => WINDOWS_1252_UPPER[character.charCodeAt(0) - 0x80] ?? character,
    );
}

/** The characters of 0x80–0x9f; five of them stand for themselves. */
const WINDOWS_1252_UPPER = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

/**
 * The bytes that decode to exactly this text, or undefined where the encoding cannot hold it (a lone
 * surrogate, in any). Begins with the byte order mark if the format has one: of a piece for the
 * middle, say `bom: false`.
 */
export function encodeText(text: string, format: TextFormat): Uint8Array | undefined {
  const { encoding, bom } = format;
  if (encoding === "binary" || LONE_SURROGATE.test(text)) return undefined;
  const marked = bom ? `\ufeff${text}` : text;
  if (encoding === "utf-8") return Buffer.from(marked, "utf8");
  if (encoding === "utf-16le") return Buffer.from(marked, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(marked, "utf16le").swap16();
  return encodeLegacy(text, encoding);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function encodeLegacy(text: string, encoding: LegacyEncoding): Uint8Array | undefined {
  const table = tableFor(encoding);
  const bytes: number[] = [];
  for (const character of text) {
    const code = table.get(character);
    if (code === undefined) return undefined;
    if (code > 0xff) bytes.push(code >> 8);
    bytes.push(code & 0xff);
  }
  return Uint8Array.from(bytes);
}

type Table = ReadonlyMap<string, number>;

const tables = new Map<LegacyEncoding, Table>();

/** Where several codes stand for one character, the first. Codes of three and four bytes are omitted. */
function tableFor(encoding: LegacyEncoding): Table {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map([["\n", LINE_FEED]]);
  tables.set(encoding, table);
  const singles = Array.from({ length: 0x100 }, (_, byte) => [byte]).filter(
    ([byte]) => byte !== LINE_FEED,
  );
  const unused = new Set<number>();
  learn(table, encoding, singles, (code) => unused.add(code));
  const pairs: number[][] = [];
  for (const lead of unused) {
    for (let trail = 0x40; trail <= 0xff; trail += 1) pairs.push([lead, trail]);
  }
  learn(table, encoding, pairs, () => undefined);
  return table;
}

/** Decodes all codes at once, each on a line of its own: a decoder for each would take its time. */
function learn(
  table: Map<string, number>,
  encoding: LegacyEncoding,
  codes: readonly number[][],
  onNoCharacter: (code: number) => void,
): void {
  const bytes = Uint8Array.from(codes.flatMap((code) => [...code, LINE_FEED]));
  const texts = decodeText(bytes, { encoding, bom: false, valid: true }).split("\n");
  for (const [index, code] of codes.entries()) {
    const text = texts[index] ?? "";
    const value = code.reduce((sum, byte) => sum * 0x100 + byte, 0);
    if (text === "\ufffd" || !ONE_CHARACTER.test(text)) onNoCharacter(value);
    else if (!table.has(text)) table.set(text, value);
  }
}

const LINE_FEED = 0x0a;
const ONE_CHARACTER = /^.$/su;

/** The longest beginning of `text` that has at most `maxBytes` bytes in UTF-8. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

const encoder = new TextEncoder();

/** The same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Kind and encoding are recognised by this much, so that a reader who has only the beginning and an editor who
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
    const encoding = findLegacyEncoding(name);
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

function findLegacyEncoding(name: string): LegacyEncoding | undefined {
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
