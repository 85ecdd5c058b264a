// The lines of the file a patch is for, as byte strings (one character a byte): where each begins, and
// an index of equal lines. Text of the patch is brought into the file's encoding, never the other way
// round, so that nothing outside the changed lines is decoded and encoded again (EDIT-4).

import { fileText, type FileText } from "./file-text.ts";
import { encodeText } from "../text/index.ts";

export interface FileLines {
  file: FileText;
  /** The whole file. */
  bytes: string;
  count: number;
  /** Where each line begins; one more than there are lines, the last being the end. */
  starts: Uint32Array;
  /** A line of the patch (UTF-8) as this file would have it; undefined where it cannot. */
  encode: (patchLine: string) => string | undefined;
  index: () => LineIndex;
}

/** `marked`: the patch has the byte order mark among its lines, so it is text like any other. */
export function fileLines(before: Uint8Array, marked: boolean): FileLines {
  const file = fileText(before);
  const bytes = file.bytes.toString("latin1");
  const starts = lineStarts(bytes, file, marked ? 0 : file.bomBytes);
  const count = starts.length - 1;
  let index: LineIndex | undefined;
  return {
    file,
    bytes,
    count,
    starts,
    encode: encoderFor(file),
    index: () => (index ??= indexLines(bytes, starts)),
  };
}

export function lineOf({ bytes, starts }: FileLines, line: number): string {
  return bytes.slice(starts[line], starts[line + 1]);
}

/** Without a copy of the line. */
export function isLine({ bytes, starts }: FileLines, line: number, text: string): boolean {
  const start = starts[line] ?? 0;
  return (starts[line + 1] ?? 0) - start === text.length && bytes.startsWith(text, start);
}

export interface LineIndex {
  /** Equal lines have the same number. */
  idOf: Map<string, number>;
  ids: Int32Array;
  /** How many lines have this number. */
  counts: number[];
  /** The first line with this number, and for each line the next one equal to it (-1: none). */
  first: number[];
  next: Int32Array;
}

function indexLines(bytes: string, starts: Uint32Array): LineIndex {
  const count = starts.length - 1;
  const idOf = new Map<string, number>();
  const ids = new Int32Array(count);
  const next = new Int32Array(count);
  const counts: number[] = [];
  const first: number[] = [];
  for (let line = count - 1; line >= 0; line -= 1) {
    const text = bytes.slice(starts[line], starts[line + 1]);
    let id = idOf.get(text);
    if (id === undefined) {
      id = counts.push(0) - 1;
      idOf.set(text, id);
    }
    ids[line] = id;
    next[line] = first[id] ?? -1;
    first[id] = line;
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return { idOf, ids, counts, first, next };
}

function lineStarts(bytes: string, file: FileText, from: number): Uint32Array {
  const lineFeed = file.lineFeed.toString("latin1");
  const starts: number[] = [];
  let start = from;
  let at = from;
  while (start < bytes.length) {
    starts.push(start);
    at = bytes.indexOf(lineFeed, at);
    // In UTF-16 the two bytes of a line feed also occur across two characters.
    while (at !== -1 && (at - from) % file.unit !== 0) at = bytes.indexOf(lineFeed, at + 1);
    if (at === -1) break;
    at += file.unit;
    start = at;
  }
  starts.push(bytes.length);
  return Uint32Array.from(starts);
}

function encoderFor({ format }: FileText): FileLines["encode"] {
  // The patch is UTF-8. Bytes that are no text in any known encoding are compared with it as they are.
  if (format.encoding === "utf-8" || format.encoding === "binary") return (line) => line;
  const plain = { ...format, bom: false };
  return (line) => {
    const encoded = encodeText(Buffer.from(line, "latin1").toString("utf8"), plain);
    return encoded && Buffer.from(encoded).toString("latin1");
  };
}
