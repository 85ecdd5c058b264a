// Unified diffs made straight from the spans of a plan, in time that grows with the file and not with
// its square, and of two whole texts. Made to be read by the user and to be applied by any patch tool.

import { isUtf8 } from "node:buffer";
import { diffArrays } from "diff";
import { asBuffer } from "../text/text-format.ts";
import { countLineFeeds, displayText, fileText } from "../text/file-text.ts";
import type { Span } from "./planned-text.ts";

/** The spans must be in order. `before` is undefined for a file that is new. */
export function renderDiff(
  name: string,
  before: Uint8Array | undefined,
  spans: readonly Span[],
): string {
  const readable = inUtf8(before ?? new Uint8Array(), spans);
  const changes = changedLines(readable.bytes, readable.spans, SPAN_EDITS);
  return rendered(name, before === undefined, readable.bytes, changes);
}

/** For a file that is written over as a whole. */
export function wholeFileDiff(
  name: string,
  before: Uint8Array | undefined,
  after: Uint8Array,
): string {
  const old = inUtf8(before ?? new Uint8Array(), []).bytes;
  const text = inUtf8(after, []).bytes;
  const changes = changedLines(old, [{ start: 0, end: old.length, text }], WHOLE_FILE_EDITS);
  return rendered(name, before === undefined, old, changes);
}

const CONTEXT_LINES = 3;

/**
 * How many lines may differ before a changed stretch is shown as replaced in full. A count, not a time
 * limit: the same change must give the same diff, or an approval of it would not hold.
 */
const SPAN_EDITS = 200;
const WHOLE_FILE_EDITS = 1000;

function rendered(
  name: string,
  isNew: boolean,
  before: Buffer,
  changes: readonly LineChange[],
): string {
  const hunks = renderHunks(before, changes);
  if (hunks.length === 0 && !isNew) return "";
  return `--- ${isNew ? "/dev/null" : headerName("a", name)}\n+++ ${headerName("b", name)}\n${hunks.join("")}`;
}

/** One for all changes whose context would touch. */
function renderHunks(before: Buffer, changes: readonly LineChange[]): string[] {
  const groups: LineChange[][] = [];
  let end = -Infinity;
  for (const change of changes) {
    if (change.line - end > 2 * CONTEXT_LINES) groups.push([]);
    groups.at(-1)?.push(change);
    end = change.line + change.removed.length;
  }
  let shift = 0;
  return groups.map((group) => {
    const { text, added } = hunk(before, group, shift);
    shift += added;
    return text;
  });
}

function hunk(
  before: Buffer,
  changes: readonly LineChange[],
  shift: number,
): { text: string; added: number } {
  const first = changes[0];
  if (first === undefined) return { text: "", added: 0 };
  const lines: string[] = [];
  let removed = 0;
  let added = 0;
  const lead = linesBefore(before, first.start);
  let from = first.start - measureLines(lead);
  for (const change of changes) {
    for (const line of splitLines(before.subarray(from, change.start)))
      lines.push(renderLine(" ", line));
    for (const line of change.removed) lines.push(renderLine("-", line));
    for (const line of change.added) lines.push(renderLine("+", line));
    removed += change.removed.length;
    added += change.added.length;
    from = change.end;
  }
  const behind = splitLines(before.subarray(from), CONTEXT_LINES);
  for (const line of behind) lines.push(renderLine(" ", line));
  const context = lines.length - removed - added;
  const line = first.line - lead.length;
  const oldRange = range(line, context + removed);
  const newRange = range(line + shift, context + added);
  return { text: `@@ -${oldRange} +${newRange} @@\n${lines.join("")}`, added: added - removed };
}

/** A range of no lines names the line before it. */
function range(line: number, count: number): string {
  return `${count === 0 ? line : line + 1},${count}`;
}

function renderLine(sign: string, line: Buffer): string {
  const text = `${sign}${line.toString("utf8")}`;
  return text.endsWith("\n") ? text : `${text}\n\\ No newline at end of file\n`;
}

function linesBefore(bytes: Buffer, end: number): Buffer[] {
  const lines: Buffer[] = [];
  let to = end;
  while (to > 0 && lines.length < CONTEXT_LINES) {
    const from = to < 2 ? 0 : bytes.lastIndexOf(LINE_FEED, to - 2) + 1;
    lines.unshift(bytes.subarray(from, to));
    to = from;
  }
  return lines;
}

/**
 * The mark at the end tells a patch tool where a name with spaces ends. A name with quotes or control
 * characters would break the header, or forge one, so it is quoted as Git does.
 */
function headerName(side: "a" | "b", name: string): string {
  const path = `${side}/${name.replace(/^\/+/, "")}`;
  // oxlint-disable-next-line no-control-regex -- control characters are what must not get through
  const quoted = path.replace(/["\\\x00-\x1f\x7f]/g, escapeCharacter);
  if (quoted !== path) return `"${quoted}"`;
  return path.includes(" ") ? `${path}\t` : path;
}

function escapeCharacter(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/** A diff is text in UTF-8, in whichever encoding the file is. Spans begin and end between characters. */
function inUtf8(before: Uint8Array, spans: readonly Span[]): { bytes: Buffer; spans: Span[] } {
  if (isUtf8(before)) return { bytes: asBuffer(before), spans: [...spans] };
  const file = fileText(before);
  const { encoding } = file.format;
  if (encoding === "utf-8" || encoding === "binary") {
    return { bytes: file.bytes, spans: [...spans] };
  }
  const pieces: Buffer[] = [];
  const moved: Span[] = [];
  let size = 0;
  const keep = (from: number, to: number): number => {
    const piece = Buffer.from(displayText(file, file.bytes.subarray(from, to)));
    pieces.push(piece);
    size += piece.length;
    return size;
  };
  let from = file.bomBytes;
  for (const span of spans) {
    const start = keep(from, Math.max(from, span.start));
    const end = keep(Math.max(from, span.start), span.end);
    moved.push({ start, end, text: Buffer.from(displayText(file, span.text)) });
    from = span.end;
  }
  keep(from, file.bytes.length);
  return { bytes: Buffer.concat(pieces), spans: moved };
}

/**
 * Byte spans as whole lines that go and lines that come: spans widened to lines, spans on the same line joined, and
 * lines that stay the same inside a span omitted.
 */
interface LineChange {
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
function changedLines(before: Buffer, spans: readonly Span[], mostEdits: number): LineChange[] {
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

function splitLines(bytes: Buffer, most = Infinity): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  while (from < bytes.length && lines.length < most) {
    const to = endOfLine(bytes, from);
    lines.push(bytes.subarray(from, to));
    from = to;
  }
  return lines;
}

const LINE_FEED = 0x0a;

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
  const at = spans[first]?.start ?? 0;
  const start = at === 0 ? 0 : before.lastIndexOf(LINE_FEED, at - 1) + 1;
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

function endOfLine(bytes: Buffer, at: number): number {
  const feed = bytes.indexOf(LINE_FEED, at);
  return feed === -1 ? bytes.length : feed + 1;
}

function changesIn(stretch: Stretch, line: number, mostEdits: number): LineChange[] {
  const old = splitLines(stretch.old);
  const new_ = splitLines(stretch.new);
  const most = Math.min(old.length, new_.length);
  let head = 0;
  while (head < most && isSame(old[head], new_[head])) head += 1;
  let tail = 0;
  while (tail < most - head && isSame(old.at(-1 - tail), new_.at(-1 - tail))) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = new_.slice(head, new_.length - tail);
  const start = stretch.start + measureLines(old.slice(0, head));
  const change = { line: line + head, start, end: start + measureLines(removed), removed, added };
  if (removed.length === 0 && added.length === 0) return [];
  if (removed.length === 0 || added.length === 0) return [change];
  return finerChanges(change, mostEdits);
}

/** Lines inside that stay are omitted, where finding them is cheap. */
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
    start += measureLines(gone);
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

function measureLines(lines: readonly Buffer[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}
