// The places of a file that are another text than the one looked for, if a similar one: which line is the
// first to differ, and how.

import { MOST_CLOSEST, shownLines, type ClosestPlace } from "./closest-place.ts";
import { differences, excerpts } from "./differences.ts";
import { foldText } from "./fold.ts";
import { similarPlaces } from "./similar-places.ts";
import { lineEnd, lineStart, type Range } from "./text-lines.ts";

export function unlikePlaces(text: string, wanted: string): ClosestPlace[] {
  const folded = foldText(text, "kept");
  return similarPlaces(folded.bytes, foldText(wanted, "kept").bytes, MOST_CLOSEST).map(
    ({ start, end }) =>
      describeUnlike(text, wanted, {
        from: folded.positionOf(start),
        to: folded.positionOf(end - 1) + 1,
      }),
  );
}

function describeUnlike(text: string, wanted: string, range: Range): ClosestPlace {
  const oldLines = trimmedLines(wanted);
  if (oldLines.length === 1) return describeLine(text, wanted.trim(), range);
  const from = alignedStart(text, oldLines, lineStart(text, range.from));
  const to = lineEndAfter(text, from, oldLines.length);
  const shown = shownLines(text, { from, to });
  const lines = text.slice(from, to).replaceAll("\r\n", "\n").split("\n");
  const differs: string[] = [];
  for (const [index, old] of oldLines.entries()) {
    const there = lines[index] ?? "";
    if (stands(old, there, index, oldLines.length)) continue;
    const firstLine = shown.start_line + index;
    if (old.trim() !== there.trim()) {
      differs.push(textDiffers(old.trim(), there.trim(), firstLine));
      break;
    }
    if (differs.length === 0)
      differs.push(...differences(old, there, { firstLine, startsLine: true }));
  }
  return { ...shown, differs };
}

function describeLine(text: string, wanted: string, range: Range): ClosestPlace {
  const line = { from: lineStart(text, range.from), to: lineEnd(text, range.from) };
  const part = { from: range.from, to: Math.min(range.to, line.to) };
  const shown = shownLines(text, part);
  const { from, to } = line.to - line.from <= MOST_COMPARED ? line : part;
  const there = text.slice(from, to).trim();
  return { ...shown, differs: [textDiffers(wanted, there, shown.start_line)] };
}

function textDiffers(old: string, there: string, line: number): string {
  const [given, present] = excerpts(old, there);
  return `text: old has ${given}, the file has ${present} (line ${line})`;
}

/** The first line may begin, and the last one end, in the middle of a line of the file. */
function stands(line: string, there: string, index: number, count: number): boolean {
  if (line === there) return true;
  if (index === 0) return there.endsWith(line);
  return index === count - 1 && there.startsWith(line);
}

/** The start of the line near `start` from where most lines agree with the wanted ones. */
function alignedStart(text: string, wanted: readonly string[], start: number): number {
  const starts = [start];
  for (let step = 0; step < 3; step += 1) {
    const first = starts[0] ?? 0;
    if (first > 0) starts.unshift(lineStart(text, first - 1));
    const last = starts.at(-1) ?? 0;
    const next = lineEnd(text, last) + 1;
    if (next < text.length) starts.push(next);
  }
  let best = { start, agreeing: agreeingLines(text, wanted, start) };
  for (const candidate of starts) {
    const agreeing = agreeingLines(text, wanted, candidate);
    if (agreeing > best.agreeing) best = { start: candidate, agreeing };
  }
  return best.start;
}

function agreeingLines(text: string, wanted: readonly string[], start: number): number {
  let agreeing = 0;
  let at = start;
  for (const line of wanted.slice(0, MOST_LINES_ALIGNED)) {
    if (at > text.length) break;
    const end = lineEnd(text, at);
    if (line.trim() !== "" && text.slice(at, end).trim() === line.trim()) agreeing += 1;
    at = end + 1;
  }
  return agreeing;
}

function lineEndAfter(text: string, from: number, lines: number): number {
  let end = lineEnd(text, from);
  for (let line = 1; line < lines && end < text.length; line += 1) end = lineEnd(text, end + 1);
  return end;
}

function trimmedLines(text: string): string[] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line !== "");
  return lines.slice(first, lines.findLastIndex((line) => line !== "") + 1);
}

const MOST_LINES_ALIGNED = 200;
const MOST_COMPARED = 200;
