// The matching lines of files known to hold matches, in the order of the files, up to a limit. ripgrep
// reads the very files that were opened and judged, through their descriptors, one after the other, and is
// ended as soon as there is enough.

import { closeSync, read } from "node:fs";
import { promisify } from "node:util";
import { ToolFailure } from "@soong/core";
import { codePointsBefore, MOST_ANSWER_CHARS, shownContext, shownMatch } from "./line-text.ts";
import { createPieces, LINE_FEED, runRipgrep, type RipgrepEnd } from "./ripgrep.ts";
import {
  refusedQuery,
  type FoundLine,
  type SearchAnswer,
  type SearchRequest,
} from "./search-request.ts";

export interface OpenedFile {
  readonly path: string;
  readonly fd: number;
}

/** Opens the files it is given, and closes them. */
export async function matchingLines(
  executable: string,
  request: SearchRequest,
  files: readonly (() => OpenedFile | undefined)[],
): Promise<Pick<SearchAnswer, "lines" | "truncated">> {
  const lines: FoundLine[] = [];
  let complete = false;
  let looked = 0;
  for (; looked < files.length && !complete; looked += FILES_AT_ONCE) {
    const batch = files.slice(looked, looked + FILES_AT_ONCE);
    const opened = batch.map((open) => open()).filter((file) => file !== undefined);
    try {
      const wanted = request.limit + 1 - lines.length;
      const printed = await printedRows(executable, request, opened, wanted);
      for (const [index, file] of opened.entries()) {
        lines.push(...(await groupLines(printed.rows[index] ?? [], file, request)));
      }
      complete = printed.complete || lines.length > request.limit;
    } finally {
      for (const { fd } of opened) closeSync(fd);
    }
  }
  return { lines: lines.slice(0, request.limit), truncated: complete || looked < files.length };
}

const FILES_AT_ONCE = 128;
const FIRST_DESCRIPTOR = 3;
/** Longer lines are not printed: what is shown of them is read from the file. */
const LONGEST_PRINTED_LINE = 64 * 1024;
/** Rows as `parseLineRow` reads them, of one file after the other. */
const ROW_FLAGS = [
  "--with-filename",
  "--null",
  "--no-heading",
  "--color=never",
  "--line-number",
  "--column",
  "--byte-offset",
  "--no-context-separator",
  "--threads=1",
  `--max-columns=${LONGEST_PRINTED_LINE}`,
];

/** The query; no value is ever an argument on its own, so none can be taken for an option. */
export function queryFlags({ literal, caseSensitive, query }: SearchRequest): string[] {
  return [
    // A line that ends in CR LF ends before the CR, so that `$` means the same everywhere.
    "--crlf",
    caseSensitive ? "--case-sensitive" : "--ignore-case",
    ...(literal ? ["--fixed-strings"] : []),
    `--regexp=${query}`,
  ];
}

/** What ripgrep says when it would not search at all. */
export function queryRefused(request: SearchRequest, end: RipgrepEnd): ToolFailure {
  if (/regex|the literal /i.test(end.complaint)) return refusedQuery(request.query, end.complaint);
  const said = end.complaint.trim().split("\n")[0] ?? "";
  return new ToolFailure({
    code: "ripgrep_failed",
    message: `ripgrep could not search: ${said === "" ? `it ended with ${end.exitCode}` : said}. Try a simpler query.`,
    recovery: "change_arguments",
  });
}

/** A row with no more of its line than is shown; `isLong` says that the line was too long to be printed. */
interface ShownRow {
  readonly line: number;
  readonly offset: number;
  readonly text: string;
  readonly isLong: boolean;
  /** Of a match, in characters from 1; of a long line this is the byte where it begins, until it is read. */
  readonly column?: number;
  readonly cut: boolean;
}

/** The rows of each file, until there are as many matches as wanted. */
async function printedRows(
  executable: string,
  request: SearchRequest,
  files: readonly OpenedFile[],
  wanted: number,
): Promise<{ rows: ShownRow[][]; complete: boolean }> {
  const rows: ShownRow[][] = files.map(() => []);
  if (files.length === 0) return { rows, complete: false };
  const names = files.map((_file, index) => `/dev/fd/${FIRST_DESCRIPTOR + index}`);
  const rowsOf = new Map(names.map((name, index) => [name, rows[index]]));
  let matches = 0;
  let characters = 0;
  let last: { file: string; line: number } | undefined;
  let complete = false;
  const pieces = createPieces(LINE_FEED, (record) => {
    const row = parseLineRow(record);
    if (row === undefined) return;
    if (last !== undefined && (row.file !== last.file || row.line > last.line)) complete = true;
    if (complete) return;
    if (row.kind === "match") matches += 1;
    // The neighbours of the last one wanted still belong to it.
    if (matches === wanted) last ??= { file: row.file, line: row.line + request.contextLines };
    const shown = shownRow(row, request.redact);
    characters += shown.text.length;
    if (characters > MOST_ANSWER_CHARS) complete = true;
    rowsOf.get(row.file)?.push(shown);
  });
  const end = await runRipgrep({
    executable,
    cwd: "/",
    descriptors: files.map(({ fd }) => fd),
    argv: [
      ...ROW_FLAGS,
      `--context=${request.contextLines}`,
      ...queryFlags(request),
      "--",
      ...names,
    ],
    onOutput(chunk) {
      pieces.add(chunk);
      return complete ? "enough" : "more";
    },
    signal: request.signal,
  });
  if (end.exitCode === 2 && end.unreadable === 0) throw queryRefused(request, end);
  return { rows, complete };
}

export interface LineRow {
  readonly kind: "match" | "context";
  readonly file: string;
  readonly line: number;
  /** Of a match, in bytes, from 1. */
  readonly column: number;
  /** Where the line begins, in bytes of the decoded file. */
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * The rows ripgrep prints for matching lines and their neighbours: `file NUL line:column:offset:text`, and `file NUL
 * line-offset-text` for a neighbour. A line without a NUL is a message of ripgrep.
 */
export function parseLineRow(row: Buffer): LineRow | undefined {
  const nul = row.indexOf(0);
  if (nul === -1) return undefined;
  const head = row.toString("latin1", nul + 1, nul + 1 + LONGEST_NUMBERS);
  const match = /^(\d+)(?::(\d+):(\d+):|-(\d+)-)/.exec(head);
  if (match === null) return undefined;
  const [numbers, line, column, offset, contextOffset] = match;
  const start = nul + 1 + numbers.length;
  const end = row.at(-1) === CARRIAGE_RETURN ? row.length - 1 : row.length;
  return {
    kind: column === undefined ? "context" : "match",
    file: row.toString("utf8", 0, nul),
    line: Number(line),
    column: Number(column ?? 1),
    offset: Number(offset ?? contextOffset),
    bytes: row.subarray(start, Math.max(start, end)),
  };
}

const LONGEST_NUMBERS = 3 * 21;
const CARRIAGE_RETURN = 13;

function shownRow(row: LineRow, redact: (text: string) => string): ShownRow {
  const { kind, line, offset, bytes } = row;
  // ripgrep prints this instead of a line that is longer than its limit.
  const isLong = bytes.length < 100 && bytes.toString("latin1").startsWith("[Omitted long ");
  const about = { line, offset, isLong };
  const text = bytes.toString();
  if (kind === "context") return { ...about, text: shownContext(text, redact), cut: false };
  const place = row.column - 1;
  if (isLong) return { ...about, text: "", cut: true, column: place };
  const index = bytes.toString("utf8", 0, place).length;
  const column = codePointsBefore(text, index) + 1;
  return { ...about, column, ...shownMatch(text, index, redact) };
}

async function groupLines(
  rows: readonly ShownRow[],
  file: OpenedFile,
  request: SearchRequest,
): Promise<FoundLine[]> {
  const { contextLines, redact } = request;
  const texts = new Map<number, string>();
  const found: FoundLine[] = [];
  for (const printed of rows) {
    const row = printed.isLong ? await readLong(printed, file.fd, request) : printed;
    const { line, column, text, cut } = row;
    texts.set(line, shownContext(text, redact));
    if (column === undefined) continue;
    found.push({ path: file.path, line, column, text, cut, before: [], after: [] });
  }
  if (contextLines === 0) return found;
  return found.map((match) => ({
    ...match,
    before: neighbours(texts, match.line, -1, contextLines).toReversed(),
    after: neighbours(texts, match.line, 1, contextLines),
  }));
}

/** The lines directly before or after, the nearest first. */
function neighbours(
  texts: ReadonlyMap<number, string>,
  line: number,
  step: 1 | -1,
  most: number,
): string[] {
  const found: string[] = [];
  for (let distance = 1; distance <= most; distance += 1) {
    const text = texts.get(line + step * distance);
    if (text === undefined) break;
    found.push(text);
  }
  return found;
}

/** The part of a line around its match, read from the file itself. */
async function readLong(row: ShownRow, fd: number, request: SearchRequest): Promise<ShownRow> {
  const { offset, column = 0 } = row;
  const start = Math.max(0, column - AROUND);
  const before = await readBytes(fd, offset + start, column - start);
  const after = await readBytes(fd, offset + column, AROUND);
  const lineEnd = after.indexOf(LINE_FEED);
  // The first of these bytes may be the rest of a character; they are far from what is shown.
  const lead = before.toString();
  const tail = (lineEnd === -1 ? after : after.subarray(0, lineEnd)).toString();
  const text = lead + tail.replace(/\r$/, "");
  if (row.column === undefined) return { ...row, text };
  const charactersBefore = await countCharacters(fd, offset, column, request.signal);
  const shown = shownMatch(text, lead.length, request.redact);
  return { ...row, ...shown, column: charactersBefore + 1 };
}

/** Wide enough that a secret next to what is shown is seen whole. */
const AROUND = 16 * 1024;
const CHUNK = 1024 * 1024;

const readAt = promisify(read);

async function readBytes(fd: number, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(fd, buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function countCharacters(
  fd: number,
  position: number,
  length: number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for (let done = 0; done < length; done += CHUNK) {
    signal.throwIfAborted();
    const bytes = await readBytes(fd, position + done, Math.min(CHUNK, length - done));
    // All but the bytes that continue a character.
    for (const byte of bytes) if ((byte & 0xc0) !== 0x80) count += 1;
  }
  return count;
}
