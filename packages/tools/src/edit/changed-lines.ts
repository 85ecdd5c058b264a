// Turns byte spans into whole lines that go and lines that come: spans widened to lines, spans on the
// same line joined, and lines that stay the same inside a span left out.

import { diffArrays } from "diff";
import { countLineFeeds } from "../text/index.ts";
import type { Span } from "./planned-text.ts";

export interface LineChange {
  /** How many lines stand before it in the old text. */
  line: number;
  /** The bytes of the old text that the removed lines take. */
  start: number;
  end: number;
  /** With their line breaks. */
  removed: Buffer[];
  added: Buffer[];
}

/** `mostEdits`: a stretch that differs in more lines than this counts as changed in full. */
export function changedLines(
  before: Buffer,
  spans: readonly Span[],
  mostEdits: number,
): LineChange[] {
  const changes: LineChange[] = [];
  let line = 0;
  let counted = 0;
  let index = 0;
  while (index < spans.length) {
    const { stretch, next } = stretchFrom(before, spans, index);
    line += countLineFeeds(before.subarray(counted, stretch.start));
    counted = stretch.start;
    for (const change of changesIn(stretch, line, mostEdits)) changes.push(change);
    index = next;
  }
  return changes;
}

export function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  while (from < bytes.length) {
    const to = endOfLine(bytes, from);
    lines.push(bytes.subarray(from, to));
    from = to;
  }
  return lines;
}

export const LINE_FEED = 0x0a;

/** Whole lines of the old text, and what takes their place. */
interface Stretch {
  start: number;
  old: Buffer;
  new: Buffer;
}

function stretchFrom(
  before: Buffer,
  spans: readonly Span[],
  first: number,
): { stretch: Stretch; next: number } {
  const start = startOfLine(before, spans[first]?.start ?? 0);
  const pieces: Uint8Array[] = [];
  let end = start;
  let lineEnd = start;
  let lastByte: number | undefined;
  const take = (piece: Uint8Array): void => {
    pieces.push(piece);
    lastByte = piece.at(-1) ?? lastByte;
  };
  let next = first;
  for (let span = spans[next]; span !== undefined; span = spans[next]) {
    take(before.subarray(end, span.start));
    take(span.text);
    ({ end } = span);
    next += 1;
    const endsHere =
      (end === start || before[end - 1] === LINE_FEED) && (lastByte ?? LINE_FEED) === LINE_FEED;
    if (endsHere) lineEnd = end;
    else if (lineEnd <= end) lineEnd = endOfLine(before, end);
    // The end of a text without a line break is the end of no line: what is added there joins it.
    const closed = endsHere || (lineEnd > end && before[lineEnd - 1] === LINE_FEED);
    const following = spans[next]?.start ?? Infinity;
    if (following > lineEnd || (closed && following === lineEnd)) break;
  }
  take(before.subarray(end, lineEnd));
  return {
    stretch: { start, old: before.subarray(start, lineEnd), new: Buffer.concat(pieces) },
    next,
  };
}

function startOfLine(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, at - 1) + 1;
}

export function endOfLine(bytes: Buffer, at: number): number {
  const feed = bytes.indexOf(LINE_FEED, at);
  return feed === -1 ? bytes.length : feed + 1;
}

function changesIn(stretch: Stretch, line: number, mostEdits: number): LineChange[] {
  const old = linesOf(stretch.old);
  const new_ = linesOf(stretch.new);
  const most = Math.min(old.length, new_.length);
  let head = 0;
  while (head < most && isSame(old[head], new_[head])) head += 1;
  let tail = 0;
  while (tail < most - head && isSame(old.at(-1 - tail), new_.at(-1 - tail))) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = new_.slice(head, new_.length - tail);
  const start = stretch.start + sizeOf(old.slice(0, head));
  const change = { line: line + head, start, end: start + sizeOf(removed), removed, added };
  if (removed.length === 0 && added.length === 0) return [];
  if (removed.length === 0 || added.length === 0) return [change];
  return finerChanges(change, mostEdits);
}

/** Lines inside that stay are left out, where finding them is cheap. */
function finerChanges(change: LineChange, mostEdits: number): LineChange[] {
  const removed = [...change.removed];
  const added = [...change.added];
  // Compared as Latin-1, in which different bytes are always different text.
  const asText = (line: Buffer): string => line.toString("latin1");
  const parts = diffArrays(removed.map(asText), added.map(asText), { maxEditLength: mostEdits });
  if (parts === undefined) return [change];
  const changes: LineChange[] = [];
  let { line, start } = change;
  let open: LineChange | undefined;
  for (const part of parts) {
    const gone = part.added ? [] : removed.splice(0, part.count);
    const come = part.removed ? [] : added.splice(0, part.count);
    const isKept = !part.added && !part.removed;
    if (!isKept && open === undefined) {
      open = { line, start, end: start, removed: [], added: [] };
      changes.push(open);
    }
    line += gone.length;
    start += sizeOf(gone);
    if (isKept) open = undefined;
    if (open === undefined) continue;
    open.removed.push(...gone);
    open.added.push(...come);
    open.end = start;
  }
  return changes;
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one !== undefined && other !== undefined && one.equals(other);
}

function sizeOf(lines: readonly Buffer[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}
