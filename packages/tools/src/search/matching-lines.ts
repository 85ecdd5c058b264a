// The matching lines of files known to hold matches, in the order of the files, up to a limit. ripgrep
// reads the very files that were opened and judged, through their descriptors, one after the other, and is
// ended as soon as there is enough.

import { closeSync } from "node:fs";
import { codePointsBefore, MOST_ANSWER_CHARS, shownContext, shownMatch } from "./line-text.ts";
import { isOmitted, parseLineRow, type LineRow } from "./line-rows.ts";
import { readLinePart } from "./long-line.ts";
import { createPieces } from "./pieces.ts";
import { queryFlags, queryRefused } from "./ripgrep-query.ts";
import { runRipgrep } from "./ripgrep-process.ts";
import type { FoundLine, SearchRequest } from "./search-types.ts";

export interface MatchingLines {
  /** As many as the limit lets through. */
  readonly lines: FoundLine[];
  /** Whether there is more in these files. */
  readonly truncated: boolean;
}

export interface OpenedFile {
  readonly path: string;
  readonly fd: number;
}

/** Opens the files it is given, and closes them. */
export async function matchingLines(
  executable: string,
  request: SearchRequest,
  files: readonly (() => OpenedFile | undefined)[],
): Promise<MatchingLines> {
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
        lines.push(...(await linesOf(printed.rows[index] ?? [], file, request)));
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
const LINE_FEED = 10;
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
];

/** A row with no more of its line than is shown; `long` says that the line was too long to be printed. */
type ShownRow = { readonly line: number; readonly offset: number; readonly text: string } & (
  | { readonly kind: "context"; readonly long: boolean }
  | {
      readonly kind: "match";
      readonly long: boolean;
      readonly cut: boolean;
      readonly column: number;
    }
);

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
  const indexOf = new Map(names.map((name, index) => [name, index]));
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
    rows[indexOf.get(row.file) ?? -1]?.push(shown);
  });
  const end = await runRipgrep({
    executable,
    cwd: "/",
    descriptors: files.map(({ fd }) => fd),
    argv: [
      ...ROW_FLAGS,
      `--max-columns=${LONGEST_PRINTED_LINE}`,
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

function shownRow(row: LineRow, redact: (text: string) => string): ShownRow {
  const { line, offset } = row;
  const long = isOmitted(row);
  if (row.kind === "context") {
    return {
      kind: "context",
      line,
      offset,
      long,
      text: shownContext(row.bytes.toString(), redact),
    };
  }
  // Of a long line this is where it begins in bytes, until it is read.
  const place = row.column - 1;
  if (long) return { kind: "match", line, offset, long, text: "", cut: true, column: place };
  const text = row.bytes.toString();
  const index = row.bytes.toString("utf8", 0, place).length;
  const column = codePointsBefore(text, index) + 1;
  return { kind: "match", line, offset, long, column, ...shownMatch(text, index, redact) };
}

async function linesOf(
  rows: readonly ShownRow[],
  file: OpenedFile,
  request: SearchRequest,
): Promise<FoundLine[]> {
  const { contextLines, redact } = request;
  const texts = new Map<number, string>();
  const found: FoundLine[] = [];
  for (const printed of rows) {
    const row = printed.long ? await readLong(printed, file.fd, request) : printed;
    texts.set(row.line, shownContext(row.text, redact));
    if (row.kind === "context") continue;
    const { line, column, text, cut } = row;
    found.push({ path: file.path, line, column, text, cut, before: [], after: [] });
  }
  if (contextLines === 0) return found;
  return found.map((match) => ({
    ...match,
    before: neighbours(texts, match.line, -1, contextLines).toReversed(),
    after: neighbours(texts, match.line, 1, contextLines),
  }));
}

async function readLong(row: ShownRow, fd: number, request: SearchRequest): Promise<ShownRow> {
  const place = row.kind === "match" ? row.column : 0;
  const part = await readLinePart(fd, row.offset, place, request.signal);
  if (row.kind === "context") return { ...row, text: part.text };
  const shown = shownMatch(part.text, part.index, request.redact);
  return { ...row, ...shown, column: part.charactersBefore + 1 };
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
