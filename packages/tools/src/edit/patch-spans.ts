// Turns the lines that came of all hunks back into spans of the file's bytes: only what is between two
// lines that stayed and is not as it was.

import { eachRun, type PatchImage } from "./patch-image.ts";
import type { FileLines } from "./patch-lines.ts";
import type { Span } from "./planned-text.ts";

/** In a placed run, the line with this index of those that hunks have added; others are the file's. */
export function addedLine(index: number): number {
  return -1 - index;
}

export function spansOf(image: PatchImage, lines: FileLines, added: readonly string[]): Span[] {
  const { bytes, count, starts } = lines;
  const spans: Span[] = [];
  let next = 0;
  let pending: string[] = [];
  const closeAt = (line: number): void => {
    const start = starts[next] ?? 0;
    const end = starts[line] ?? 0;
    const text = pending.join("");
    pending = [];
    if (text === bytes.slice(start, end)) return;
    spans.push({ start, end, text: Buffer.from(text, "latin1") });
  };
  const keep = (line: number, lineCount: number): void => {
    if (line !== next || pending.length > 0) closeAt(line);
    next = line + lineCount;
  };
  eachRun(image, ({ placed, from, count: runLines }) => {
    if (placed === undefined) keep(from, runLines);
    else {
      for (const entry of placed.slice(from, from + runLines)) {
        if (entry < 0) pending.push(added[-1 - entry] ?? "");
        else keep(entry, 1);
      }
    }
  });
  closeAt(count);
  return spans;
}
