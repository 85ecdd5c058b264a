// The lines of the file a patch is for, as byte strings (one character a byte): where each begins, and
// where lines equal to those of its hunks are. Text of the patch is brought into the file's encoding, never the
// other way round, so that nothing outside the changed lines is decoded and encoded again (EDIT-4).

import { findLineFeed, type FileText } from "../text/file-text.ts";
import type { PatchHunk } from "./patch-hunks.ts";

export interface FileLines {
  file: FileText;
  /** The whole file. */
  bytes: string;
  count: number;
  /** Where each line begins; one more than there are lines, the last being the end. */
  starts: Uint32Array;
  /** Made when first needed. */
  index: () => LineIndex;
}

export interface LineIndex {
  /** Of each line of the file, if a hunk has an equal one: that line's number; else 0. */
  ids: Int32Array;
  linesOf: Map<string, EqualLines>;
}

export interface EqualLines {
  id: number;
  /** In ascending order. */
  lines: number[];
}

/** `marked`: the patch has the byte order mark among its lines, so it is text like any other. */
export function fileLines(file: FileText, hunks: readonly PatchHunk[], marked: boolean): FileLines {
  const bytes = file.bytes.toString("latin1");
  const starts = lineStarts(file, marked ? 0 : file.bomBytes);
  const count = starts.length - 1;
  let index: LineIndex | undefined;
  return { file, bytes, count, starts, index: () => (index ??= indexLines()) };

  function indexLines(): LineIndex {
    const linesOf = new Map<string, EqualLines>();
    for (const line of hunks.flatMap(({ before, after }) => [...before, ...after])) {
      if (typeof line === "number" || linesOf.has(line)) continue;
      linesOf.set(line, { id: linesOf.size + 1, lines: [] });
    }
    const ids = new Int32Array(count);
    for (let line = 0; line < count; line += 1) {
      const equal = linesOf.get(bytes.slice(starts[line], starts[line + 1]));
      if (equal === undefined) continue;
      ids[line] = equal.id;
      equal.lines.push(line);
    }
    return { ids, linesOf };
  }
}

export function readLine({ bytes, starts }: FileLines, line: number): string {
  return bytes.slice(starts[line], starts[line + 1]);
}

/** Without a copy of the line. */
export function isLine({ bytes, starts }: FileLines, line: number, text: string): boolean {
  const start = starts[line] ?? 0;
  return (starts[line + 1] ?? 0) - start === text.length && bytes.startsWith(text, start);
}

function lineStarts(file: FileText, from: number): Uint32Array {
  const { bytes, unit } = file;
  const starts: number[] = [];
  for (let start = from; start < bytes.length;) {
    starts.push(start);
    const feed = findLineFeed(file, bytes, start);
    start = feed === -1 ? bytes.length : feed + unit;
  }
  return Uint32Array.from([...starts, bytes.length]);
}
