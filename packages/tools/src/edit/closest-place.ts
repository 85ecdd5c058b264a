// A place of a file that comes close to a text that is not in it, as the error reports it (EDIT-5).

import { lineEnd, lineStart, wholeCharacters, type Range } from "./text-lines.ts";

export interface ClosestPlace {
  start_line: number;
  end_line: number;
  /** What stands there, with line feeds for line breaks. */
  text: string;
  text_truncated: boolean;
  /** Each in words. */
  differs: string[];
}

export const MOST_CLOSEST = 3;

/** Whole lines, unless they are very long. */
export function shownLines(text: string, { from, to }: Range): Omit<ClosestPlace, "differs"> {
  const last = Math.max(from, to - 1);
  const lines = { from: lineStart(text, from), to: lineEnd(text, last) };
  const start = Math.max(lines.from, from - MOST_AROUND);
  const end = Math.min(lines.to, to + MOST_AROUND, start + MOST_SHOWN);
  const start_line = 1 + countLineFeeds(text, 0, from);
  return {
    start_line,
    end_line: start_line + countLineFeeds(text, from, last),
    text: wholeCharacters(text.slice(start, end).replace(/\r(?=\n|$)/g, "")),
    text_truncated: start > lines.from || end < lines.to,
  };
}

const MOST_SHOWN = 2000;
const MOST_AROUND = 200;

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) {
    count += 1;
  }
  return count;
}
