// Finds the asked lines in bytes that come chunk by chunk, from the beginning of a file. It keeps what it
// will return and one window of the line at hand, for any size of file and line.

import { isHighSurrogate } from "@soong/schema";
import {
  bomLength,
  cutToBytes,
  decodesWhole,
  decodeText,
  type TextFormat,
} from "../text/text-format.ts";
import { countLines, findLineFeed, lineUnits } from "../text/file-text.ts";

export interface LinesWanted {
  format: TextFormat;
  /** From 1. */
  startLine: number;
  maxLines: number;
  /** Of the text in UTF-8, line ends included. A line that is longer on its own is cut to fit. */
  maxBytes: number;
  /** How many bytes the file has: chunks never bring more. */
  size: number;
  redact: (text: string) => string;
}

export interface LinesRead {
  /** Line ends are \n here, also if they differ in the file; cut lines keep theirs. */
  text: string;
  /** None when the file ends before startLine. */
  lineCount: number;
  /** Where to continue, if lines follow. */
  nextStartLine?: number;
  /** How many lines the file has, where its end was reached. */
  totalLines?: number;
  cutLines: number[];
  /** Of the lines returned. */
  lineEnding: "lf" | "crlf" | "mixed" | "none";
  /** Something in the text did not decode and is U+FFFD now. */
  undecodable: boolean;
}

export const MAX_LINE_BYTES = 4096;

/**
 * So much of a line is looked at. In any encoding it is more text than is shown of a line, by more than
 * the length of a secret.
 */
const WINDOW_BYTES = 32 * 1024;

export function createLineReader(wanted: LinesWanted) {
  const { format, startLine, maxLines, maxBytes, size, redact } = wanted;
  const piece: TextFormat = { ...format, bom: false };
  const units = lineUnits(format);
  const { unit, lineFeed } = units;
  const carriageReturn = units.lineBreak.subarray(0, unit);
  const maxLineBytes = Math.min(MAX_LINE_BYTES, maxBytes - 1);
  const window = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, size));

  let state: "reading" | "stopped_before_line" | "stopped_after_line" = "reading";
  let consumed = 0;
  /** The line at hand, and how much of it has passed; of one to skip, whether anything has. */
  let line = 1;
  let length = 0;
  let endsInReturn = false;

  const texts: string[] = [];
  const cutLines: number[] = [];
  const feedsSeen = { lf: 0, crlf: 0 };
  let bytes = 0;
  let undecodable = false;

  /** Looks at the next chunk, which cuts no UTF-16 unit and no byte order mark in two. Is it enough? */
  function take(chunk: Buffer): "more" | "enough" {
    let at = skipLines(chunk, consumed === 0 ? bomLength(format) : 0);
    while (at < chunk.length) {
      at = collectLine(chunk, at);
      if (state !== "reading") break;
    }
    consumed += at;
    return state === "reading" ? "more" : "enough";
  }

  function skipLines(chunk: Buffer, from: number): number {
    if (line >= startLine) return from;
    const feedCount = countLines(units, chunk);
    if (line + feedCount < startLine) {
      line += feedCount;
      const endsInFeed = chunk.length % unit === 0 && chunk.subarray(-unit).equals(lineFeed);
      if (chunk.length > from) length = endsInFeed ? 0 : 1;
      return chunk.length;
    }
    let at = from;
    for (; line < startLine; line += 1) at = findLineFeed(units, chunk, at) + unit;
    length = 0;
    return at;
  }

  function collectLine(chunk: Buffer, from: number): number {
    const feed = findLineFeed(units, chunk, from);
    const end = feed === -1 ? chunk.length : feed;
    if (length < window.length) chunk.copy(window, length, from, end);
    length += end - from;
    if (end - from >= unit) endsInReturn = chunk.subarray(end - unit, end).equals(carriageReturn);
    if (feed === -1) return end;
    finishLine("\n");
    return end + unit;
  }

  function finishLine(feed: "\n" | ""): void {
    const isCrlf = feed === "\n" && endsInReturn;
    if (isCrlf) length -= unit;
    const raw = window.subarray(0, length);
    const isLonger = length > window.length;
    const shown = fitLine(decodeText(raw, piece), maxLineBytes, redact);
    const lineBytes = Buffer.byteLength(shown.text) + feed.length;
    if (bytes + lineBytes > maxBytes) {
      state = "stopped_before_line";
      return;
    }
    bytes += lineBytes;
    texts.push(shown.text + feed);
    if (shown.cut) cutLines.push(line);
    if (feed === "\n") feedsSeen[isCrlf ? "crlf" : "lf"] += 1;
    undecodable ||= shown.text.includes("\ufffd") && !decodesWhole(raw, piece, !isLonger);
    line += 1;
    length = 0;
    endsInReturn = false;
    if (texts.length === maxLines) state = "stopped_after_line";
  }

  function end(): LinesRead {
    const isAll = state === "reading" || (state === "stopped_after_line" && consumed === size);
    // Bytes behind the last line feed are a line; nothing behind it is not.
    if (state === "reading" && length > 0) {
      if (line < startLine) line += 1;
      else finishLine("");
    }
    const isComplete = isAll && state !== "stopped_before_line";
    return {
      text: texts.join(""),
      lineCount: texts.length,
      ...(isComplete ? { totalLines: line - 1 } : { nextStartLine: line }),
      cutLines,
      lineEnding: findLineEnding(feedsSeen),
      undecodable,
    };
  }

  return { take, end };
}

function findLineEnding({ lf, crlf }: { lf: number; crlf: number }): LinesRead["lineEnding"] {
  if (lf > 0 && crlf > 0) return "mixed";
  if (crlf > 0) return "crlf";
  return lf > 0 ? "lf" : "none";
}

/**
 * One line as it is shown: whole, or cut to a number of bytes on a character border, and never in the
 * middle of a secret, because half of one would not be recognised when the result is redacted. `text`: the line, or of a very long one so much that a secret across the border ends in it.
 */
function fitLine(
  text: string,
  maxBytes: number,
  redact: (text: string) => string,
): { text: string; cut: boolean } {
  const head = cutToBytes(text, maxBytes);
  if (head.length === text.length) return { text, cut: false };
  const alone = redact(head);
  const within = redact(text);
  const isWhole = alone + redact(text.slice(head.length)) === within;
  return { text: isWhole ? head : commonStart(alone, within), cut: true };
}

/** Where both differ, the secret begins that is across the border. */
function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, isHighSurrogate(one.charCodeAt(length - 1)) ? length - 1 : length);
}
