// The places of a file that are the text looked for but for the way it was copied: other white space,
// quotes, digits, escapes and so on.

import { MOST_CLOSEST, shownLines, type ClosestPlace } from "./closest-place.ts";
import { differences } from "./differences.ts";
import { bytesFinder } from "./find-bytes.ts";
import { foldText, type FoldedText, type Numbers } from "./fold.ts";
import { otherWritings, type OtherWriting } from "./other-writings.ts";
import type { Range } from "./text-lines.ts";

export function likePlaces(text: string, wanted: string): ClosestPlace[] {
  const folded = foldText(text, "as_zero");
  for (const writing of otherWritings(wanted)) {
    const ranges = foldedRanges(text, folded, writing.text, "as_zero");
    if (ranges.length === 0) continue;
    // So many that the best may not be among them: those with the same numbers, if there are any.
    const exact =
      ranges.length < MOST_RANKED
        ? []
        : foldedRanges(text, foldText(text, "kept"), writing.text, "kept");
    return best(text, exact.length > 0 ? exact : ranges, writing.text).map((range) =>
      describeLike(text, range, writing),
    );
  }
  return [];
}

function foldedRanges(text: string, folded: FoldedText, wanted: string, numbers: Numbers): Range[] {
  const needle = foldText(wanted, numbers).bytes;
  const ranges: Range[] = [];
  const next = bytesFinder(folded.bytes, needle);
  let at = needle.length === 0 ? -1 : next(0);
  while (at !== -1 && ranges.length < MOST_RANKED) {
    const from = folded.positionOf(at);
    const last = folded.positionOf(at + needle.length - 1) + 1;
    const to = numbers === "as_zero" ? afterNumber(text, last) : last;
    ranges.push(withSpaceAround(text, wanted, { from, to }));
    at = next(at + 1);
  }
  return ranges;
}

function best(text: string, ranges: readonly Range[], wanted: string): Range[] {
  return ranges
    .map((range) => ({ ...range, same: sameness(text.slice(range.from, range.to), wanted) }))
    .toSorted((a, b) => b.same - a.same || a.from - b.from)
    .slice(0, MOST_CLOSEST);
}

function describeLike(
  text: string,
  range: Range,
  { text: wanted, words }: OtherWriting,
): ClosestPlace {
  const shown = shownLines(text, range);
  const actual = text.slice(range.from, range.to).replaceAll("\r\n", "\n");
  const startsLine = range.from === 0 || text[range.from - 1] === "\n";
  const differs = differences(wanted, actual, { firstLine: shown.start_line, startsLine });
  return { ...shown, differs: words === "" ? differs : [words, ...differs] };
}

/** Folding left white space at both ends out; where the text has some, the place has what is there. */
function withSpaceAround(text: string, wanted: string, { from, to }: Range): Range {
  const leading = wanted.slice(0, wanted.length - wanted.trimStart().length);
  const trailing = wanted.slice(wanted.trimEnd().length);
  const before = leading === "" ? "" : spaceBefore(text, from, leading.split("\n").length - 1);
  const after = trailing === "" ? "" : spaceAfter(text, to, trailing.split("\n").length - 1);
  return {
    from: from - (before.endsWith(leading) ? leading : before).length,
    to: to + (after.startsWith(trailing) ? trailing : after).length,
  };
}

function spaceBefore(text: string, to: number, lineBreaks: number): string {
  let from = to;
  let left = lineBreaks;
  while (from > Math.max(0, to - MOST_SPACE) && /\s/.test(text[from - 1] ?? "")) {
    if (text[from - 1] === "\n") left -= 1;
    if (left < 0) break;
    from -= 1;
  }
  return text.slice(from, to);
}

function spaceAfter(text: string, from: number, lineBreaks: number): string {
  let to = from;
  let left = lineBreaks;
  while (to < Math.min(text.length, from + MOST_SPACE) && /\s/.test(text[to] ?? "")) {
    if (text[to] === "\n") left -= 1;
    if (left < 0) break;
    to += 1;
  }
  return text.slice(from, to);
}

function afterNumber(text: string, at: number): number {
  if (!/\d/.test(text[at - 1] ?? "")) return at;
  let end = at;
  while (/\d/.test(text[end] ?? "")) end += 1;
  return end;
}

/** How much of two texts is the same at their beginning and end. */
function sameness(one: string, other: string): number {
  const most = Math.min(one.length, other.length, MOST_SAME);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return start + end - Math.abs(one.length - other.length);
}

const MOST_RANKED = 200;
const MOST_SPACE = 2000;
const MOST_SAME = 2000;
