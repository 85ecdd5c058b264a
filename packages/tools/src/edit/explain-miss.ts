// Explains why a text was not found (EDIT-5): the closest places of the file, what is there and what
// differs. First those that are the text but for the way it was copied: other white space, quotes, digits, escapes
// and so on; else those that are another text, if a similar one. It only ever explains; nothing here can lead to
// a change.

import type { JsonObject } from "@soong/core";
import { displayText, type FileText } from "../text/file-text.ts";
import { differences, excerpts, wholeCharacters } from "./differences.ts";
import { bytesFinder, lineNumberAt } from "./find-places.ts";
import { foldText, type FoldedText, type Numbers } from "./fold.ts";
import { nearWritings } from "./near-writings.ts";
import { similarPlaces } from "./similar-places.ts";

export interface Miss {
  /** For the message; ends with a full stop. */
  words: string;
  closest: JsonObject[];
}

/** A place of the file that comes close to the text, as the error reports it. */
type ClosestPlace = {
  start_line: number;
  end_line: number;
  /** What is there, with line feeds for line breaks. */
  text: string;
  text_truncated: boolean;
  /** Each in words. */
  differs: string[];
};

interface Range {
  from: number;
  to: number;
}

const MOST_CLOSEST = 3;

export function explainMiss(file: FileText, old: string): Miss {
  const text = displayText(file, file.bytes.subarray(file.bomBytes));
  if (text === "") return { words: "The file is empty.", closest: [] };
  if (old.trim() === "") {
    return { words: "It is only white space: add the text around it.", closest: [] };
  }
  const wanted = old.replaceAll("\r\n", "\n");
  const like = likePlaces(text, wanted);
  const closest = like.length > 0 ? like : unlikePlaces(text, wanted);
  const undecoded = old.includes("\ufffd")
    ? " It has U+FFFD, which replaces bytes that could not be decoded: leave them out of old."
    : "";
  if (closest.length === 0) {
    return { words: `Nothing like it is there; read the file again.${undecoded}`, closest };
  }
  const places = closest.map(({ start_line, end_line, differs }) => {
    const lines =
      start_line === end_line ? `line ${start_line}` : `lines ${start_line}-${end_line}`;
    return differs.length === 0 ? lines : `${lines}: ${differs.join("; ")}`;
  });
  const words = `Closest: ${places.join(" | ")}.${undecoded} Copy old exactly from the file.`;
  return { words, closest };
}

/** Whole lines, unless they are very long. */
function shownLines(text: string, { from, to }: Range): Omit<ClosestPlace, "differs"> {
  const last = Math.max(from, to - 1);
  const lines = { from: lineStart(text, from), to: lineEnd(text, last) };
  const start = Math.max(lines.from, from - MOST_AROUND);
  const end = Math.min(lines.to, to + MOST_AROUND, start + MOST_SHOWN);
  return {
    start_line: lineNumberAt(text, from),
    end_line: lineNumberAt(text, last),
    text: wholeCharacters(text.slice(start, end).replace(/\r(?=\n|$)/g, "")),
    text_truncated: start > lines.from || end < lines.to,
  };
}

const MOST_SHOWN = 2000;
const MOST_AROUND = 200;

function likePlaces(text: string, wanted: string): ClosestPlace[] {
  const folded = foldText(text, "as_zero");
  for (const writing of nearWritings(wanted)) {
    const ranges = foldedRanges(text, folded, writing.text, "as_zero");
    if (ranges.length === 0) continue;
    // So many that the best may not be among them: those with the same numbers, if there are any.
    const exact =
      ranges.length < MOST_RANKED
        ? []
        : foldedRanges(text, foldText(text, "kept"), writing.text, "kept");
    return (exact.length > 0 ? exact : ranges)
      .map((range) => ({
        ...range,
        same: sameness(text.slice(range.from, range.to), writing.text),
      }))
      .toSorted((a, b) => b.same - a.same || a.from - b.from)
      .slice(0, MOST_CLOSEST)
      .map((range) => {
        const shown = shownLines(text, range);
        const actual = text.slice(range.from, range.to).replaceAll("\r\n", "\n");
        const startsLine = range.from === 0 || text[range.from - 1] === "\n";
        const where = { firstLine: shown.start_line, startsLine };
        const differs = differences(writing.text, actual, where);
        return { ...shown, differs: writing.words === "" ? differs : [writing.words, ...differs] };
      });
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
    let to = folded.positionOf(at + needle.length - 1) + 1;
    if (numbers === "as_zero" && /\d/.test(text[to - 1] ?? "")) {
      while (/\d/.test(text[to] ?? "")) to += 1;
    }
    ranges.push(withSpaceAround(text, wanted, { from, to }));
    at = next(at + 1);
  }
  return ranges;
}

/** Folding left white space at both ends out; where the text has some, the place has what is there. */
function withSpaceAround(text: string, wanted: string, { from, to }: Range): Range {
  const leading = wanted.slice(0, wanted.length - wanted.trimStart().length);
  const trailing = wanted.slice(wanted.trimEnd().length);
  const before = text.slice(from - spaceBeside(text, from, -1, leading), from);
  const after = text.slice(to, to + spaceBeside(text, to, 1, trailing));
  return {
    from: from - (before.endsWith(leading) ? leading : before).length,
    to: to + (after.startsWith(trailing) ? trailing : after).length,
  };
}

/** How much white space is before or after `at`, with no more line breaks than `wanted` has. */
function spaceBeside(text: string, at: number, step: 1 | -1, wanted: string): number {
  if (wanted === "") return 0;
  let breaks = wanted.split("\n").length - 1;
  let length = 0;
  for (; length < MOST_SPACE; length += 1) {
    const next = text[step === 1 ? at + length : at - length - 1] ?? "";
    if (next === "\n") breaks -= 1;
    if (!/\s/.test(next) || breaks < 0) break;
  }
  return length;
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

/** Which line of them is the first to differ, and how. */
function unlikePlaces(text: string, wanted: string): ClosestPlace[] {
  const folded = foldText(text, "kept");
  const places = similarPlaces(folded.bytes, foldText(wanted, "kept").bytes, MOST_CLOSEST);
  return places.map(({ start, end }) => {
    const range = { from: folded.positionOf(start), to: folded.positionOf(end - 1) + 1 };
    const oldLines = trimmedLines(wanted);
    return oldLines.length === 1
      ? describeLine(text, wanted.trim(), range)
      : describeLines(text, oldLines, range);
  });
}

function describeLine(text: string, wanted: string, range: Range): ClosestPlace {
  const line = { from: lineStart(text, range.from), to: lineEnd(text, range.from) };
  const part = { from: range.from, to: Math.min(range.to, line.to) };
  const shown = shownLines(text, part);
  const { from, to } = line.to - line.from <= MOST_COMPARED ? line : part;
  const there = text.slice(from, to).trim();
  return { ...shown, differs: [textDiffers(wanted, there, shown.start_line)] };
}

function describeLines(text: string, oldLines: readonly string[], range: Range): ClosestPlace {
  const from = alignedStart(text, oldLines, lineStart(text, range.from));
  const to = lineEndAfter(text, from, oldLines.length);
  const shown = shownLines(text, { from, to });
  const lines = text.slice(from, to).replaceAll("\r\n", "\n").split("\n");
  const differs: string[] = [];
  for (const [index, old] of oldLines.entries()) {
    const there = lines[index] ?? "";
    // The first line may begin, and the last one end, in the middle of a line of the file.
    const isLast = index === oldLines.length - 1;
    const isThere =
      old === there || (index === 0 ? there.endsWith(old) : isLast && there.startsWith(old));
    if (isThere) continue;
    const firstLine = shown.start_line + index;
    if (old.trim() !== there.trim()) {
      differs.push(textDiffers(old.trim(), there.trim(), firstLine));
      break;
    }
    if (differs.length === 0) {
      differs.push(...differences(old, there, { firstLine, startsLine: true }));
    }
  }
  return { ...shown, differs };
}

function textDiffers(old: string, there: string, line: number): string {
  const [given, present] = excerpts(old, there);
  return `text: old has ${given}, the file has ${present} (line ${line})`;
}

/** The start of the line near `start` from where most lines agree with the wanted ones. */
function alignedStart(text: string, wanted: readonly string[], start: number): number {
  const starts = [start];
  for (let step = 0; step < 3; step += 1) {
    const first = starts[0] ?? 0;
    if (first > 0) starts.unshift(lineStart(text, first - 1));
    const next = lineEnd(text, starts.at(-1) ?? 0) + 1;
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

const MOST_LINES_ALIGNED = 200;
const MOST_COMPARED = 200;

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

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Where the line break is, or the text ends. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}
