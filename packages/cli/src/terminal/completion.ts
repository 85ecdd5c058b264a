// What Tab does with the candidates for a word: how far all of them agree, and the list of them in columns.

import { visibleLine } from "../output/index.ts";
import { splitGraphemes, measureWidth } from "./grapheme-width.ts";

/** The longest beginning all of them have, in whole characters as a reader sees them. */
export function commonBeginning(candidates: readonly string[]): string {
  const [first = "", ...others] = candidates;
  let common = "";
  for (const grapheme of splitGraphemes(first)) {
    const longer = common + grapheme;
    if (!others.every((other) => other.startsWith(longer))) break;
    common = longer;
  }
  return common;
}

/** In columns that are read downwards, as many as fit; the rest is counted. */
export function candidateLines(words: readonly string[], width: number, height: number): string[] {
  const candidates = words.map(visibleLine);
  const cell = Math.max(...candidates.map(measureWidth), 0) + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / cell));
  const fits = columns * height >= candidates.length;
  const rows = fits ? Math.ceil(candidates.length / columns) : Math.max(1, height - 1);
  const shown = candidates.slice(0, rows * columns);
  const lines = Array.from({ length: Math.min(rows, shown.length) }, (_, row) =>
    shown
      .filter((_, at) => at % rows === row)
      .map((candidate) => candidate + " ".repeat(cell - measureWidth(candidate)))
      .join("")
      .trimEnd(),
  );
  return fits ? lines : [...lines, `… and ${candidates.length - shown.length} more`];
}

const GAP = 2;
