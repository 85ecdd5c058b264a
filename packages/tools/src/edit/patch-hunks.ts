// Reads the hunks of a unified diff. The counts of a hunk's header decide what belongs to it, as for
// `git apply`: a removed line `-- x` is content though it looks like a header. Text is held as byte
// strings (one character a byte), because a patch is about bytes and slices of a string are cheap.

import { lineNumberAt } from "./find-places.ts";
import { refusePlan, type RefusedPlan } from "./planned-text.ts";

export interface PatchHunk {
  /** From 1. */
  number: number;
  header: string;
  /** Lines as the header counts them, from 1; 0 for "before the first". */
  oldStart: number;
  newStart: number;
  /** The lines that must be there, each with its line feed. */
  before: string[];
  /** What takes their place: a new line, or the index of the line of `before` that stays. */
  after: (string | number)[];
  contextLines: number;
  /** How many of the context lines come after the last change. */
  trailingLines: number;
}

export type ReadHunks = { ok: true; hunks: PatchHunk[]; end: number } | RefusedPlan;

/** `start` is the offset of the first hunk header. */
export function readHunks(patch: string, start: number): ReadHunks {
  const hunks: PatchHunk[] = [];
  let at = start;
  while (patch.startsWith(HUNK_MARK, at) && at + HUNK_MARK.length < patch.length) {
    const read = readHunk(patch, at, hunks.length + 1);
    if (!read.ok) return read;
    hunks.push(read.hunk);
    at = read.end;
  }
  return { ok: true, hunks, end: at };
}

export const HUNK_MARK = "@@ -";

export interface HunkHeader {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
}

export function readHunkHeader(line: string): HunkHeader | undefined {
  const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (match === null || !line.endsWith("\n")) return undefined;
  const [oldStart = 0, oldLines = 0, newStart = 0, newLines = 0] = match
    .slice(1)
    .map((digits: string | undefined) => Math.min(Number(digits ?? 1), MOST_LINES));
  return { oldStart, oldLines, newStart, newLines };
}

/** More than any file has lines; larger numbers mean no more than this one. */
const MOST_LINES = 0x7fff_ffff;

/** A header may carry the name of a function after its counts; enough of it to tell which one it is. */
const MOST_HEADER = 200;

type ReadHunk = { ok: true; hunk: PatchHunk; end: number } | RefusedPlan;

function readHunk(patch: string, start: number, number: number): ReadHunk {
  const header = lineAt(patch, start);
  const counts = readHunkHeader(header);
  const hunk: PatchHunk = {
    number,
    header: readable(header).trimEnd().slice(0, MOST_HEADER),
    oldStart: counts?.oldStart ?? 0,
    newStart: counts?.newStart ?? 0,
    before: [],
    after: [],
    contextLines: 0,
    trailingLines: 0,
  };
  const corrupt = (words: string): ReadHunk => {
    const says = `Hunk ${number} (${hunk.header}) cannot be read: ${words}.`;
    return refusePlan("patch_apply_failed", says, { hunk: number, header: hunk.header });
  };
  if (counts === undefined) {
    return corrupt(
      "its header is not of the form `@@ -<line>,<count> +<line>,<count> @@`. Write the line numbers and counts",
    );
  }
  let { oldLines, newLines } = counts;
  let at = start + header.length;
  let changes = 0;
  while ((oldLines > 0 || newLines > 0) && at < patch.length) {
    const line = lineAt(patch, at);
    if (!line.endsWith("\n")) {
      return corrupt(
        "the patch ends in the middle of a line. Give the whole patch and end its last line with a line feed",
      );
    }
    const kind = line[0] === "\n" ? " " : line[0];
    const missing = kind === "+" ? newLines === 0 : kind === "-" ? oldLines === 0 : false;
    if (missing || (kind === " " && Math.min(oldLines, newLines) === 0)) {
      return corrupt(countWords(patch, start, counts));
    }
    if (kind === " " || kind === "-") oldLines -= 1;
    if (kind === " " || kind === "+") newLines -= 1;
    const complete = oldLines === 0 && newLines === 0;
    const next = at + line.length;
    const text = readContent(
      line,
      complete ? isFinalMark(patch, next) : patch.startsWith("\\", next),
    );
    if (kind === " ") {
      hunk.contextLines += 1;
      hunk.trailingLines += 1;
      if (text !== undefined) hunk.after.push(hunk.before.push(text) - 1);
    } else if (kind === "-" || kind === "+") {
      changes += 1;
      hunk.trailingLines = 0;
      if (text !== undefined) (kind === "-" ? hunk.before : hunk.after).push(text);
    } else if (!line.startsWith(NO_NEWLINE) || line.length < LEAST_NO_NEWLINE) {
      return corrupt(strayWords(patch, start, at, counts));
    }
    at += line.length;
  }
  if (oldLines > 0 || newLines > 0) return corrupt(countWords(patch, start, counts));
  if (changes === 0) {
    const { old, added } = countLines(patch, start);
    const more = old !== counts.oldLines || added !== counts.newLines;
    return corrupt(more ? countWords(patch, start, counts) : NO_CHANGES);
  }
  // The mark after the last counted line; it was looked at with that line already.
  if (isFinalMark(patch, at)) at += lineAt(patch, at).length;
  // git takes changes beyond the counts for prose and drops them; here nothing is lost in silence.
  if (changesFollow(patch, at)) return corrupt(countWords(patch, start, counts));
  return { ok: true, hunk, end: at };
}

/** Whether there are changes among the lines that would continue with a hunk; a mail's `-- ` ends one. */
function changesFollow(patch: string, from: number): boolean {
  for (let at = from; at < patch.length;) {
    const line = lineAt(patch, at);
    if (/^(?:--- |\+\+\+ |-- ?\r?\n?$)/.test(line)) return false;
    if (line.startsWith("+") || line.startsWith("-")) return true;
    if (!line.startsWith(" ")) return false;
    at += line.length;
  }
  return false;
}

const NO_CHANGES = "it changes nothing. Give lines that begin with - or +";

/** In any language: only the beginning is the same everywhere. */
const NO_NEWLINE = "\\ ";
const LEAST_NO_NEWLINE = 12;

function isFinalMark(patch: string, at: number): boolean {
  return patch.startsWith(NO_NEWLINE, at) && patch.length - at > LEAST_NO_NEWLINE;
}

/**
 * The content of the line, without its line feed where "\ No newline at end of file" follows. An empty
 * line is an empty context line whose one space some program stripped; with that mark it is nothing.
 */
function readContent(line: string, marked: boolean): string | undefined {
  if (line === "\n") return marked ? undefined : line;
  return marked ? line.slice(1, -1) : line.slice(1);
}

function countWords(patch: string, start: number, counts: HunkHeader): string {
  const { oldStart, oldLines, newStart, newLines } = counts;
  const { old, added } = countLines(patch, start);
  return (
    `its header counts ${oldLines} old and ${newLines} new lines, but ${old} and ${added} follow. ` +
    `Complete the hunk, or if it is whole write its header as @@ -${oldStart},${old} +${newStart},${added} @@`
  );
}

/** What the lines up to the next thing that cannot be one of a hunk would be counted as. */
function countLines(patch: string, start: number): { old: number; added: number } {
  let old = 0;
  let added = 0;
  let at = start + lineAt(patch, start).length;
  while (at < patch.length) {
    const line = lineAt(patch, at);
    if (!/^[ +\-\\\n]/.test(line)) break;
    if (!/^[+\\]/.test(line)) old += 1;
    if (!/^[-\\]/.test(line)) added += 1;
    at += line.length;
  }
  return { old, added };
}

function strayWords(patch: string, start: number, at: number, counts: HunkHeader): string {
  if (patch.startsWith("@@", at) || patch.startsWith("diff ", at)) {
    return countWords(patch, start, counts);
  }
  return (
    `line ${lineNumberAt(patch, at)} of the patch is in the middle of the hunk and begins with none of ` +
    "space, + and -. Begin unchanged lines with a space"
  );
}

/** With its line feed, if it has one. */
export function lineAt(patch: string, at: number): string {
  const end = patch.indexOf("\n", at);
  return end === -1 ? patch.slice(at) : patch.slice(at, end + 1);
}

/** The bytes as characters the user can read. */
export function readable(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
