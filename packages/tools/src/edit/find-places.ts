// Finds every place of a text in a file's bytes. A line feed in the text stands for a line break of
// either kind, because whoever wrote the text never saw a carriage return (EDIT-4).

import { bytesFinder } from "./find-bytes.ts";
import { bytesToFind, characterBorders, type FileText } from "./file-text.ts";

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
    const whole = isBorder === undefined || isBorder(at);
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
  let low = 0;
  let high = shortened.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shortened[middle] ?? Infinity) < offset) low = middle + 1;
    else high = middle;
  }
  return offset + low * unit;
}
