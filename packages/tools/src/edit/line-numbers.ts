// Line numbers, counted from 1, of byte offsets in a file.

import type { FileText } from "./file-text.ts";

/** The offsets must ascend. */
export function linesAt({ bytes, lineFeed, unit }: FileText, offsets: readonly number[]): number[] {
  let line = 1;
  let at = bytes.indexOf(lineFeed);
  return offsets.map((offset) => {
    while (at !== -1 && at < offset) {
      if (at % unit === 0) line += 1;
      at = bytes.indexOf(lineFeed, at + 1);
    }
    return line;
  });
}
