// The bytes of one file seen as text: its encoding, where lines end, the way of text into it, and whether an
// offset is between two characters.

import {
  asBuffer,
  bomLength,
  decodeText,
  detectFormat,
  encodeText,
  type TextFormat,
} from "./text-format.ts";

/** How lines end in the raw bytes of an encoding. */
export interface LineUnits {
  /** Bytes of one code unit. */
  unit: 1 | 2;
  lineFeed: Buffer;
  /** CR LF. */
  lineBreak: Buffer;
}

export interface FileText extends LineUnits {
  bytes: Buffer;
  format: TextFormat;
  /** Bytes of the byte order mark at the start. */
  bomBytes: number;
}

export function fileText(bytes: Uint8Array): FileText {
  const buffer = asBuffer(bytes);
  const format = detectFormat(buffer, true);
  return { bytes: buffer, format, bomBytes: bomLength(format), ...lineUnits(format) };
}

export function lineUnits({ encoding }: TextFormat): LineUnits {
  const isWide = encoding === "utf-16le" || encoding === "utf-16be";
  // In every encoding with one-byte units these two bytes are never part of another character.
  const encode = (text: string): Buffer => {
    const units = Buffer.from(text, isWide ? "utf16le" : "latin1");
    return encoding === "utf-16be" ? units.swap16() : units;
  };
  return { unit: isWide ? 2 : 1, lineFeed: encode("\n"), lineBreak: encode("\r\n") };
}

/** The next line feed at or after `from`, or -1. In UTF-16 its two bytes also occur across two characters. */
export function findLineFeed({ unit, lineFeed }: LineUnits, bytes: Buffer, from = 0): number {
  // A search for a number takes half the time of one for a buffer.
  if (unit === 1) return bytes.indexOf(0x0a, from);
  let at = bytes.indexOf(lineFeed, from);
  while (at % unit === 1) at = bytes.indexOf(lineFeed, at + 1);
  return at;
}

/** The last one, or -1. */
export function findLastLineFeed({ unit, lineFeed }: LineUnits, bytes: Buffer): number {
  let at = bytes.lastIndexOf(lineFeed);
  while (at % unit === 1) at = bytes.lastIndexOf(lineFeed, at - 1);
  return at;
}

export function countLines(units: LineUnits, bytes: Buffer): number {
  if (units.unit === 1) return countLineFeeds(bytes);
  let count = 0;
  for (let at = findLineFeed(units, bytes); at !== -1; at = findLineFeed(units, bytes, at + 2)) {
    count += 1;
  }
  return count;
}

/** The bytes of `text` to look for, or undefined where this file cannot hold it. */
export function bytesToFind({ format }: FileText, text: string): Buffer | undefined {
  const bytes = encodeText(text, { ...format, bom: false });
  return bytes && asBuffer(bytes);
}

/**
 * The bytes of `text` to write, or undefined where they would be a guess: a file that neither says
 * its encoding by a mark nor decodes in full takes ASCII only.
 */
export function bytesToWrite(file: FileText, text: string): Buffer | undefined {
  const { valid, bom } = file.format;
  if (!valid && !bom && !/^[\0-\x7f]*$/.test(text)) return undefined;
  return bytesToFind(file, text);
}

/** What the user reads of some bytes of the file, or of a byte string (one character a byte). */
export function displayText({ format }: FileText, bytes: Uint8Array | string): string {
  const raw = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  return decodeText(raw, { ...format, bom: false });
}

/**
 * Tells of ascending offsets whether a character begins there. UTF-8 needs no such check: the bytes of
 * whole characters match nowhere else. In an old encoding of two bytes a second byte can look like
 * ASCII; bytes below 0x30 are never one, so decoding starts from those, or from the last border found.
 */
export function characterBorders(
  bytes: Buffer,
  { format, unit }: FileText,
): (offset: number) => boolean {
  if (unit === 2) return (offset) => offset % 2 === 0;
  if (!TWO_BYTES.has(format.encoding)) return () => true;
  let known = 0;
  return (offset) => {
    let from = offset;
    while (from > known && (bytes[from - 1] ?? 0) >= 0x30) from -= 1;
    if (decodeText(bytes.subarray(from, offset), format).endsWith("\ufffd")) return false;
    known = offset;
    return true;
  };
}

const TWO_BYTES = new Set(["shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"]);

/**
 * How many line feeds are in some bytes. Sixteen bytes are looked at in one go, so that a scan takes the same short time
 * whether lines are long or short; a native search for each would not.
 */
export function countLineFeeds(bytes: Buffer): number {
  const start = -bytes.byteOffset & 3;
  const wordCount = ((bytes.length - start) >> 4) << 2;
  if (wordCount <= 0) return countOneByOne(bytes);
  const end = start + wordCount * 4;
  return (
    countOneByOne(bytes.subarray(0, start)) +
    countInWords(new Int32Array(bytes.buffer, bytes.byteOffset + start, wordCount)) +
    countOneByOne(bytes.subarray(end))
  );
}

/** Four counters share a word, one for each of its bytes: they are emptied before one can overflow. */
const WORDS_A_ROUND = 252;

function countInWords(words: Int32Array): number {
  let others = 0;
  for (let index = 0; index < words.length;) {
    const end = Math.min(words.length, index + WORDS_A_ROUND);
    let counters = 0;
    for (; index < end; index += 4) {
      const four =
        othersIn(words[index] as number) +
        othersIn(words[index + 1] as number) +
        othersIn(words[index + 2] as number) +
        othersIn(words[index + 3] as number);
      counters = (counters + four) | 0;
    }
    others += counters & 0xff;
    others += (counters >>> 8) & 0xff;
    others += (counters >>> 16) & 0xff;
    others += counters >>> 24;
  }
  return words.length * 4 - others;
}

/** A word with a one in each byte where `word` has something else than a line feed. */
function othersIn(word: number): number {
  // Zero where the line feed is; from anything else the addition carries into the top bit.
  const difference = word ^ 0x0a0a0a0a;
  return ((((difference & 0x7f7f7f7f) + 0x7f7f7f7f) | difference) >>> 7) & 0x01010101;
}

function countOneByOne(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 0x0a) count += 1;
  return count;
}
