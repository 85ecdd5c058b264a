// What the parsers of all formats find, and what bounds them.

import type { DocumentPath, DocumentPosition } from "./problem.ts";

/** What the parser of a format finds. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      positionOf(path: DocumentPath, of: "key" | "value"): DocumentPosition;
      readonly repeatedKeys: readonly PlacedMessage[];
    }
  | { readonly ok: false; readonly problems: readonly PlacedMessage[] };

export interface PlacedMessage extends DocumentPosition {
  readonly path: DocumentPath;
  readonly message: string;
}

/** Deeper than anyone writes, and before a parser exhausts the stack. */
export const MAX_DEPTH = 100;

export const REPEATED = "is given a second time";

/** Turns offsets into lines and columns, in logarithmic time after one look at the text. */
export function positionFinder(text: string): (offset: number) => DocumentPosition {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) starts.push(index + end.length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
