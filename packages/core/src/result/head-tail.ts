// The beginning and the end of a text that is too long, with one line for what is between (RESULT-6,
// ART-2). Pure; characters are UTF-16 units, as `length` counts them, and a pair is never split.

import { isHighSurrogate, isLowSurrogate, utf8Length } from "@soong/schema";
import type { Redactor } from "../journal/index.ts";

export interface HeadTailLimit {
  maxChars?: number;
  /** Of the UTF-8 form. */
  maxBytes?: number;
}

export interface HeadTail {
  text: string;
  truncated: boolean;
  original_chars: number;
  /** Of the original; the line in the middle is not counted. */
  kept_chars: number;
}

/** `text` is never longer than the limit, the line in the middle included. */
export function headTail(text: string, limit: HeadTailLimit): HeadTail {
  const maxChars = readLimit(limit.maxChars);
  const maxBytes = readLimit(limit.maxBytes);
  const chars = text.length;
  // A unit is one to three bytes: mostly they need not be counted.
  const isShort = chars <= maxBytes && (chars * 3 <= maxBytes || utf8Length(text) <= maxBytes);
  if (chars <= maxChars && isShort) {
    return { text, truncated: false, original_chars: chars, kept_chars: chars };
  }
  // The longest the line can get, and a line end on either side of it.
  const line = leftOut(chars, chars);
  const roomChars = maxChars - line.length - 2;
  const roomBytes = maxBytes - utf8Length(line) - 2;
  if (Math.min(roomChars, roomBytes) < 2) {
    const start = takeStart(text, maxChars, maxBytes);
    return { text: start, truncated: true, original_chars: chars, kept_chars: start.length };
  }
  const head = toLineEnd(takeStart(text, Math.ceil(roomChars / 2), Math.ceil(roomBytes / 2)));
  // What the head did not need is the tail's.
  const headBytes = maxBytes === Infinity ? 0 : utf8Length(head);
  const tail = fromLineStart(takeEnd(text, roomChars - head.length, roomBytes - headBytes));
  const kept = head.length + tail.length;
  const before = head === "" || head.endsWith("\n") ? "" : "\n";
  return {
    text: `${head}${before}${leftOut(chars - kept, chars)}\n${tail}`,
    truncated: true,
    original_chars: chars,
    kept_chars: kept,
  };
}

/** A limit that is no number at all bounds nothing; anything below zero is zero. */
function readLimit(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return Infinity;
  return Math.max(0, Math.floor(limit));
}

function leftOut(count: number, of: number): string {
  return `… ${count} characters omitted (of ${of}) …`;
}

function takeStart(text: string, maxChars: number, maxBytes: number): string {
  let end = Math.min(text.length, maxChars);
  if (maxBytes !== Infinity) {
    let bytes = 0;
    let at = 0;
    while (at < end) {
      const width = splitsPair(text, at + 1) ? 2 : 1;
      bytes += unitBytes(text.charCodeAt(at), width);
      if (bytes > maxBytes) break;
      at += width;
    }
    end = Math.min(end, at);
  }
  return text.slice(0, splitsPair(text, end) ? end - 1 : end);
}

function takeEnd(text: string, maxChars: number, maxBytes: number): string {
  let start = Math.max(0, text.length - maxChars);
  if (maxBytes !== Infinity) {
    let bytes = 0;
    let at = text.length;
    while (at > start) {
      const width = splitsPair(text, at - 1) ? 2 : 1;
      bytes += unitBytes(text.charCodeAt(at - 1), width);
      if (bytes > maxBytes) break;
      at -= width;
    }
    start = Math.max(start, at);
  }
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

function unitBytes(unit: number, width: number): number {
  if (width === 2) return 4;
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
}

/** Whole lines, unless that would give up more than half of what there is room for. */
function toLineEnd(head: string): string {
  const end = head.lastIndexOf("\n") + 1;
  return end >= head.length / 2 ? head.slice(0, end) : head;
}

function fromLineStart(tail: string): string {
  const start = tail.indexOf("\n") + 1;
  return start <= tail.length / 2 ? tail.slice(start) : tail;
}

function splitsPair(text: string, at: number): boolean {
  return isHighSurrogate(text.charCodeAt(at - 1)) && isLowSurrogate(text.charCodeAt(at));
}

/** Longer than any secret we know of: a private key of 16 384 bits has about 13 000 characters. */
export const MARGIN = 16 * 1024;

/**
 * Head and tail of a text that may hold secrets: redacted first and cut afterwards, because half a secret is still a
 * secret and no pattern knows it. Of a very long text only the ends are looked at, with a margin that is cut away again.
 */
export function redactedPreview(redactor: Redactor, text: string, maxChars: number): string {
  if (text.length <= maxChars + 4 * MARGIN) {
    return headTail(redactor.text(text), { maxChars }).text;
  }
  return joinedPreview(
    redactor,
    text.slice(0, maxChars + MARGIN),
    text.slice(-(maxChars + MARGIN)),
    maxChars,
    text.length,
  );
}

/** Of the two ends of a text of `chars` characters, each longer than shown by the margin. */
export function joinedPreview(
  redactor: Redactor,
  first: string,
  last: string,
  maxChars: number,
  chars: number,
): string {
  const line = `… about ${chars - maxChars} characters omitted (of ${chars}) …`;
  const half = Math.max(0, Math.floor((maxChars - line.length - 2) / 2));
  const head = whole(redactor.text(first).slice(0, half));
  const redactedLast = redactor.text(last);
  const tail = whole(redactedLast.slice(Math.max(0, redactedLast.length - half)));
  return `${head}\n${line}\n${tail}`;
}

/** Half of a surrogate pair at either end goes. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
