// The bytes of one file seen as text: its encoding, the way of text into it, and whether an offset
// stands between two characters. Built on the text module; adds what editing in place needs.

import { decodeText, detectFormat, encodeText, type TextFormat } from "../text/index.ts";

export interface FileText {
  bytes: Buffer;
  format: TextFormat;
  /** Bytes of the byte order mark at the start. */
  bomBytes: number;
  /** Bytes of one code unit. */
  unit: 1 | 2;
  lineFeed: Buffer;
  lineBreak: Buffer;
}

export function fileText(bytes: Uint8Array): FileText {
  const buffer = asBuffer(bytes);
  const format = detectFormat(buffer, true);
  const wide = format.encoding === "utf-16le" || format.encoding === "utf-16be";
  const file = { bytes: buffer, format, unit: wide ? 2 : 1 } as const;
  return {
    ...file,
    bomBytes: format.bom ? encoded("\ufeff", format).length : 0,
    lineFeed: encoded("\n", format),
    lineBreak: encoded("\r\n", format),
  };
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
  if (!valid && !bom && !ASCII.test(text)) return undefined;
  return bytesToFind(file, text);
}

const ASCII = /^[\0-\x7f]*$/;

/** What a person reads of some bytes of the file. */
export function displayText({ format }: FileText, bytes: Uint8Array): string {
  return decodeText(bytes, { ...format, bom: false });
}

/**
 * Tells of ascending offsets whether a character begins there. UTF-8 needs no such check: the bytes of
 * whole characters match nowhere else. In an old encoding of two bytes a second byte can look like
 * ASCII; bytes below 0x30 are never one, so decoding starts from those, or from the last border found.
 */
export function characterBorders(
  bytes: Buffer,
  { format, unit }: FileText,
): ((offset: number) => boolean) | undefined {
  if (unit === 2) return (offset) => offset % 2 === 0;
  if (!TWO_BYTES.has(format.encoding)) return undefined;
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

function encoded(text: string, format: TextFormat): Buffer {
  const bytes = encodeText(text, { ...format, bom: false });
  return bytes === undefined ? Buffer.from(text) : asBuffer(bytes);
}

/** The same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
