// What a model reads of one output stream: all of it, or as much of its beginning and end as there is room
// for. Secrets are hidden before anything is cut, because half a secret is not recognised (REDACT-1).

import { headTail, MARGIN } from "@soong/core/internal";
import { cutToBytes } from "../text/text-format.ts";

export type OutputEnds =
  | { readonly whole: Buffer }
  | { readonly first: Buffer; readonly last: Buffer };

export interface ShownOutput {
  readonly text: string;
  /** It is not all there. */
  readonly truncated: boolean;
}

/** An inline text of at most `maxBytes`, unless hiding secrets makes it longer. */
export function showOutput(
  ends: OutputEnds,
  bytes: number,
  maxBytes: number,
  redact: (text: string) => string,
): ShownOutput {
  if (isBinary("whole" in ends ? ends.whole : ends.first)) {
    return { text: `(${bytes} bytes that are not text)`, truncated: true };
  }
  if (!("whole" in ends)) return showEnds(ends, bytes, maxBytes, redact);
  const text = decodeText(ends.whole);
  if (Buffer.byteLength(text) <= maxBytes) return { text, truncated: false };
  return { text: headTail(redact(text), { maxBytes }).text, truncated: true };
}

/** How many bytes showing all of it would take. */
export function wholeLength(ends: OutputEnds): number {
  if (!("whole" in ends)) return Number.POSITIVE_INFINITY;
  return isBinary(ends.whole) ? 0 : Buffer.byteLength(decodeText(ends.whole));
}

function showEnds(
  { first, last }: { first: Buffer; last: Buffer },
  bytes: number,
  maxBytes: number,
  redact: (text: string) => string,
): ShownOutput {
  const line = `\n… of ${bytes} bytes the middle is omitted …\n`;
  const half = Math.max(0, Math.floor((maxBytes - Buffer.byteLength(line)) / 2));
  const head = cutToBytes(redactedBeginning(first, redact), half);
  const tail = cutFromEnd(redactedEnd(last, redact), half);
  return { text: `${head}${line}${tail}`, truncated: true };
}

/**
 * Bytes that continue beyond their end may end in half a secret, or half a character. What begins before
 * the margin is whole, so what they show with and without the margin is the same up to there, and only
 * that is sure.
 */
function redactedBeginning(bytes: Buffer, redact: (text: string) => string): string {
  const withMargin = redact(decodeText(bytes));
  const without = redact(decodeText(bytes.subarray(0, Math.max(0, bytes.length - MARGIN))));
  let at = 0;
  while (at < without.length && without[at] === withMargin[at]) at += 1;
  return without.slice(0, at);
}

export function redactedEnd(bytes: Buffer, redact: (text: string) => string): string {
  const withMargin = redact(decodeText(bytes));
  const without = redact(decodeText(bytes.subarray(MARGIN)));
  let count = 0;
  while (count < without.length && without.at(-1 - count) === withMargin.at(-1 - count)) count += 1;
  return without.slice(without.length - count);
}

/** A NUL is not for a model's eyes: it mostly ends a name, as a line break would. */
function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll("\0", "\n");
}

/** The longest end of `text` that has at most `maxBytes` bytes in UTF-8. */
function cutFromEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let at = Math.max(0, bytes.length - maxBytes);
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at).toString("utf8");
}

const SAMPLE_BYTES = 8 * 1024;

/** Names separated by NUL are text, and so is a listing in an old encoding: only what shows two signs of the three is binary. */
export function isBinary(beginning: Uint8Array): boolean {
  const sample = beginning.subarray(0, SAMPLE_BYTES);
  const signs = [sample.includes(0), sample.some(isControl), !isUtf8(sample)];
  return signs.filter(Boolean).length >= 2;
}

/** Other than NUL, the usual white space, backspace and the escape of terminals. */
function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0 && byte !== 0x1b && (byte < 0x08 || byte > 0x0d);
}

/** The sample may end in the middle of a character. */
function isUtf8(sample: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}
