// The beginning and the end of a text that is too long, with one line for what lies between (RESULT-6,
// ART-2). Pure; characters are UTF-16 units, as `length` counts them, and a pair is never split.

import { isHighSurrogate, isLowSurrogate } from "@soong/schema";
import { utf8Length } from "../tool/index.ts";

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
  const maker = createHeadTail(limit);
  maker.push(text);
  return maker.result();
}

export interface HeadTailMaker {
  push(chunk: string): void;
  /** May be asked at any time; how the text was cut into chunks makes no difference. */
  result(): HeadTail;
}

/** Holds a few times the limit and the last chunk, however much is pushed. */
export function createHeadTail(limit: HeadTailLimit): HeadTailMaker {
  const maxChars = bound(limit.maxChars);
  const maxBytes = bound(limit.maxBytes);
  // A UTF-16 unit is never less than one byte, so this many units are all either end can need, and one
  // more to see whether the last of them is half a pair.
  const window = Math.min(maxChars, maxBytes) + 1;
  let head = "";
  let tail = "";
  let chars = 0;
  let bytes = 0;
  let endsInHighSurrogate = false;

  return { push, result };

  function push(chunk: string): void {
    if (chunk === "") return;
    countBytes(chunk);
    const before = chars === head.length ? head : tail;
    chars += chunk.length;
    if (head.length < window) head += chunk.slice(0, window - head.length);
    if (chars <= window) return;
    tail = chunk.length >= window ? chunk : before + chunk;
    if (tail.length > 2 * window) tail = tail.slice(tail.length - window);
  }

  /** Only while it can still matter: past the limit nobody asks by how much. */
  function countBytes(chunk: string): void {
    if (bytes > maxBytes || maxBytes === Infinity) return;
    // Bytes are never fewer than units, but for the two taken back below.
    if (bytes + chunk.length > maxBytes + 2) {
      bytes = Infinity;
      return;
    }
    bytes += utf8Length(chunk);
    // Two halves of one character were counted as two broken characters of three bytes each.
    if (endsInHighSurrogate && isLowSurrogate(chunk.charCodeAt(0))) bytes -= 2;
    endsInHighSurrogate = isHighSurrogate(chunk.charCodeAt(chunk.length - 1));
  }

  function result(): HeadTail {
    if (chars <= maxChars && bytes <= maxBytes) {
      return { text: head, truncated: false, original_chars: chars, kept_chars: chars };
    }
    return cut(head, chars <= window ? head : tail, chars, maxChars, maxBytes);
  }
}

/** A limit that is no number at all bounds nothing; anything below zero is zero. */
function bound(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return Infinity;
  return Math.max(0, Math.floor(limit));
}

function cut(
  first: string,
  last: string,
  chars: number,
  maxChars: number,
  maxBytes: number,
): HeadTail {
  // The longest the line can get, and a line end on either side of it.
  const line = leftOut(chars, chars);
  const roomChars = maxChars - line.length - 2;
  const roomBytes = maxBytes - utf8Length(line) - 2;
  if (Math.min(roomChars, roomBytes) < 2) {
    const text = prefix(first, maxChars, maxBytes);
    return { text, truncated: true, original_chars: chars, kept_chars: text.length };
  }
  const head = toLineEnd(prefix(first, Math.ceil(roomChars / 2), Math.ceil(roomBytes / 2)));
  // What the head did not need is the tail's.
  const headBytes = maxBytes === Infinity ? 0 : utf8Length(head);
  const tail = fromLineStart(suffix(last, roomChars - head.length, roomBytes - headBytes));
  const kept = head.length + tail.length;
  const before = head === "" || head.endsWith("\n") ? "" : "\n";
  return {
    text: `${head}${before}${leftOut(chars - kept, chars)}\n${tail}`,
    truncated: true,
    original_chars: chars,
    kept_chars: kept,
  };
}

function leftOut(count: number, of: number): string {
  return `… ${count} characters left out (of ${of}) …`;
}

function prefix(text: string, maxChars: number, maxBytes: number): string {
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

function suffix(text: string, maxChars: number, maxBytes: number): string {
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
