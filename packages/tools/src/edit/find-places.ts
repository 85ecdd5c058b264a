// Finds every place of a text in a file's bytes, and writes a new text into one. A line feed in the text means
// a line break of either kind, because the author of the text never saw a carriage return (EDIT-4).

import {
  bytesToFind,
  bytesToWrite,
  characterBorders,
  findLastLineFeed,
  findLineFeed,
  type FileText,
} from "../text/file-text.ts";
import { firstIndex } from "./patch-image.ts";

export interface Place {
  start: number;
  end: number;
}

export interface Found {
  /** In ascending order. */
  places: Place[];
  /** The text's own CRLF are not in the file as such: they were taken as line feeds. */
  lineBreaksRelaxed: boolean;
}

export interface Counting {
  /** Whether places that share bytes count, or only those after the end of the one before. */
  overlapping: boolean;
  limit: number;
}

export interface SearchedFile {
  file: FileText;
  /** The file with every CRLF made one line feed; made when first needed. */
  lineFeedView: () => LineFeedView;
}

export function searchedFile(file: FileText): SearchedFile {
  let view: LineFeedView | undefined;
  return { file, lineFeedView: () => (view ??= lineFeedView(file)) };
}

export function findPlaces(searched: SearchedFile, text: string, counting: Counting): Found {
  const { file } = searched;
  const none = { places: [], lineBreaksRelaxed: false };
  if (text.includes("\r") || !text.includes("\n")) {
    const exact = bytesToFind(file, text);
    const starts = exact === undefined ? [] : search(file, file.bytes, exact, counting);
    if (exact !== undefined && starts.length > 0) {
      const places = starts.map((start) => ({ start, end: start + exact.length }));
      return { places, lineBreaksRelaxed: false };
    }
    if (!text.includes("\n")) return none;
  }
  const needle = bytesToFind(file, text.replaceAll("\r\n", "\n"));
  if (needle === undefined) return none;
  const view = searched.lineFeedView();
  const places = search(file, view.bytes, needle, counting).map((start) => ({
    start: offsetInFile(view, start),
    end: offsetInFile(view, start + needle.length),
  }));
  return { places, lineBreaksRelaxed: text.includes("\r\n") };
}

function search(file: FileText, bytes: Buffer, needle: Buffer, counting: Counting): number[] {
  const isBorder = characterBorders(bytes, file);
  const step = counting.overlapping ? file.unit : needle.length;
  const starts: number[] = [];
  const next = bytesFinder(bytes, needle);
  let at = next(0);
  while (at !== -1 && starts.length < counting.limit) {
    const whole = isBorder(at);
    if (whole) starts.push(at);
    at = next(at + (whole ? step : 1));
  }
  return starts;
}

interface LineFeedView {
  bytes: Buffer;
  /** Offsets in the view of the line feeds that lost their carriage return. */
  shortened: readonly number[];
  unit: number;
}

function lineFeedView({ bytes, lineBreak, unit }: FileText): LineFeedView {
  const shortened: number[] = [];
  let view = bytes;
  let read = 0;
  let written = 0;
  let at = bytes.indexOf(lineBreak);
  while (at !== -1) {
    if (at % unit === 0) {
      if (view === bytes) view = Buffer.allocUnsafe(bytes.length);
      written += bytes.copy(view, written, read, at);
      shortened.push(written);
      read = at + unit;
    }
    at = bytes.indexOf(lineBreak, at + 1);
  }
  if (view === bytes) return { bytes, shortened, unit };
  written += bytes.copy(view, written, read);
  return { bytes: view.subarray(0, written), shortened, unit };
}

/** The carriage returns taken out before this offset come on top. */
function offsetInFile({ shortened, unit }: LineFeedView, offset: number): number {
  return offset + unit * firstIndex(shortened.length, (at) => (shortened[at] ?? 0) >= offset);
}

/**
 * Gives the line breaks of a new text the style of the place it goes to, so that an edit leaves a CRLF file a CRLF
 * file and a mixed one mixed as it was. Writes a text for one place after the other, in ascending order; undefined when the file cannot hold
 * the text. The i-th line break of the text takes the style of the i-th one in the place, further ones
 * that of the last; in a place without any, that of the line it is in.
 */
export function writerFor(
  file: FileText,
  text: string,
): ((place: Place) => Uint8Array) | undefined {
  const asGiven = bytesToWrite(file, text);
  if (asGiven === undefined) return undefined;
  if (!text.includes("\n") || text.includes("\r") || !file.bytes.includes(file.lineBreak)) {
    return () => asGiven;
  }
  const inFileStyle = bytesToWrite(file, text.replaceAll("\n", "\r\n")) ?? asGiven;
  const pieces = text.split("\n").map((piece) => bytesToWrite(file, piece) ?? asGiven);
  const breakNear = nearestBreaks(file);
  return (place) => {
    const styles = breaksIn(file, place);
    if (styles.length === 0) styles.push(breakNear(place));
    if (styles.every((style) => style === "lf")) return asGiven;
    if (styles.every((style) => style === "crlf")) return inFileStyle;
    const [first = asGiven, ...others] = pieces;
    const broken = others.flatMap((piece, index) => {
      const style = styles[Math.min(index, styles.length - 1)];
      return [style === "crlf" ? file.lineBreak : file.lineFeed, piece];
    });
    return Buffer.concat([first, ...broken]);
  };
}

type LineBreak = "lf" | "crlf";

/** A carriage return left of the place is not replaced, so it does not count. */
function breaksIn(file: FileText, { start, end }: Place): LineBreak[] {
  const bytes = file.bytes.subarray(start, end);
  const styles: LineBreak[] = [];
  for (let at = findLineFeed(file, bytes); at !== -1; at = findLineFeed(file, bytes, at + 1)) {
    styles.push(styleAt(file, bytes, at));
  }
  return styles;
}

/** The end of the place's line or, on a last line without one, the end of the line before. */
function nearestBreaks(file: FileText): (place: Place) => LineBreak {
  let next = 0;
  let last: LineBreak | undefined;
  return (place) => {
    if (next !== -1 && next < place.end) next = findLineFeed(file, file.bytes, place.end);
    if (next !== -1) return styleAt(file, file.bytes, next);
    return (last ??= styleAt(file, file.bytes, findLastLineFeed(file, file.bytes)));
  };
}

function styleAt({ lineBreak, unit }: FileText, bytes: Buffer, at: number): LineBreak {
  const from = at - unit;
  return from >= 0 && lineBreak.equals(bytes.subarray(from, at + unit)) ? "crlf" : "lf";
}

/** The line numbers, counted from 1, of offsets that ascend. */
export function linesAt(file: FileText, offsets: readonly number[]): number[] {
  let line = 1;
  let at = findLineFeed(file, file.bytes);
  return offsets.map((offset) => {
    for (; at !== -1 && at < offset; at = findLineFeed(file, file.bytes, at + 1)) line += 1;
    return line;
  });
}

/**
 * Finds bytes in bytes in linear time: the first place at or after an offset, or -1. The platform's own search is the
 * fastest there is for what files and edits look like, but its time is the product of both lengths where both repeat
 * themselves; a long text is therefore searched for by a short piece of it, and step by step where that misleads too
 * often.
 */
export function bytesFinder(bytes: Buffer, wanted: Buffer): (from: number) => number {
  if (wanted.length <= PIECE_BYTES) return (from) => bytes.indexOf(wanted, from);
  const offset = tellingPiece(wanted);
  const piece = wanted.subarray(offset, offset + PIECE_BYTES);
  let misled = 0;
  let stepwise: ((from: number) => number) | undefined;
  return (from) => {
    let start = from;
    while (misled < MOST_MISLED) {
      start = bytes.indexOf(piece, start + offset) - offset;
      if (start < from || start + wanted.length > bytes.length) return -1;
      if (bytes.compare(wanted, 0, wanted.length, start, start + wanted.length) === 0) return start;
      misled += 1;
      start += 1;
    }
    stepwise ??= stepwiseFinder(bytes, wanted);
    return stepwise(start);
  };
}

const PIECE_BYTES = 32;
const PIECES_LOOKED_AT = 64;
const MOST_MISLED = 1000;

/** Where the piece with the most different bytes begins. */
function tellingPiece(wanted: Buffer): number {
  const last = wanted.length - PIECE_BYTES;
  const stride = Math.max(1, Math.floor(last / PIECES_LOOKED_AT));
  let best = { offset: 0, different: 0 };
  for (let offset = 0; offset <= last; offset += stride) {
    const different = new Set(wanted.subarray(offset, offset + PIECE_BYTES)).size;
    if (different > best.different) best = { offset, different };
  }
  return best.offset;
}

/** Knuth, Morris and Pratt: never looks at a byte of the file twice. */
function stepwiseFinder(bytes: Buffer, wanted: Buffer): (from: number) => number {
  const fallback = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = fallback[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    fallback[at] = length;
  }
  return (from) => {
    let matched = 0;
    for (let at = from; at < bytes.length; at += 1) {
      while (matched > 0 && bytes[at] !== wanted[matched]) matched = fallback[matched - 1] ?? 0;
      if (bytes[at] === wanted[matched]) matched += 1;
      if (matched === wanted.length) return at - matched + 1;
    }
    return -1;
  };
}

/** The number of the line, counted from 1, of an offset in a text. */
export function lineNumberAt(text: string, offset: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    number += 1;
  }
  return number;
}
