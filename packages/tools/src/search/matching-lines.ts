// The matching lines of files known to hold matches, in the order of the files, up to a limit. ripgrep
// reads the very files that were opened and judged, through their descriptors, one after the other, and is
// ended as soon as there is enough.

import { closeSync } from "node:fs";
import { codePointsBefore, shownContext, shownMatch } from "./line-text.ts";
import { isOmitted, parseLineRow, type LineRow } from "./line-rows.ts";
import { readLinePart } from "./long-line.ts";
import { createPieces } from "./pieces.ts";
import { queryFlags, queryRefused } from "./ripgrep-query.ts";
import { runRipgrep } from "./ripgrep-process.ts";
import type { FoundLine, SearchRequest } from "./search-types.ts";

export interface MatchingLines {
  readonly lines: FoundLine[];
  /** How many of the files were looked through. */
  readonly files: number;
}

export interface OpenedFile {
  readonly path: string;
  readonly fd: number;
}

/** One line more than the limit, where there is one. Opens and closes the files it is given. */
export async function matchingLines(
  executable: string,
  request: SearchRequest,
  files: readonly (() => OpenedFile | undefined)[],
): Promise<MatchingLines> {
  const lines: FoundLine[] = [];
  let looked = 0;
  let characters = 0;
  while (looked < files.length && lines.length <= request.limit && characters < MOST_CHARACTERS) {
    const batch = files.slice(looked, looked + FILES_AT_ONCE);
    const opened = batch.map((open) => open()).filter((file) => file !== undefined);
    try {
      const rows = await printedRows(executable, request, opened, request.limit + 1 - lines.length);
      for (const [index, file] of opened.entries()) {
        const found = await linesOf(rows[index] ?? [], file, request);
        lines.push(...found);
        characters += found.reduce((sum, line) => sum + charactersOf(line), 0);
        if (lines.length > request.limit) break;
      }
    } finally {
      for (const { fd } of opened) closeSync(fd);
    }
    looked += batch.length;
  }
  return { lines, files: looked };
}

const FILES_AT_ONCE = 128;
const FIRST_DESCRIPTOR = 3;
/** Longer lines are not printed: what is shown of them is read from the file. */
const LONGEST_PRINTED_LINE = 64 * 1024;
/** More is of no use to anybody in one answer. */
const MOST_CHARACTERS = 4_000_000;
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

/** The rows of each file, until there are as many matches as wanted. */
async function printedRows(
  executable: string,
  request: SearchRequest,
  files: readonly OpenedFile[],
  wanted: number,
): Promise<LineRow[][]> {
  const rows: LineRow[][] = files.map(() => []);
  if (files.length === 0) return rows;
  const names = files.map((_file, index) => `/dev/fd/${FIRST_DESCRIPTOR + index}`);
  const indexOf = new Map(names.map((name, index) => [name, index]));
  let matches = 0;
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
    rows[indexOf.get(row.file) ?? -1]?.push({ ...row, bytes: Buffer.from(row.bytes) });
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
  return rows;
}

async function linesOf(
  rows: readonly LineRow[],
  file: OpenedFile,
  request: SearchRequest,
): Promise<FoundLine[]> {
  const { contextLines, redact } = request;
  const shown = new Map<number, string>();
  const found: FoundLine[] = [];
  for (const row of rows) {
    if (row.kind === "context") {
      const text = isOmitted(row)
        ? (await readLinePart(file.fd, row.offset, 0, request.signal)).text
        : row.bytes.toString();
      shown.set(row.line, shownContext(text, redact));
      continue;
    }
    const part = await matchPart(row, file.fd, request.signal);
    const { text, cut } = shownMatch(part.text, part.index, redact);
    shown.set(row.line, shownContext(text, redact));
    found.push({
      path: file.path,
      line: row.line,
      column: part.charactersBefore + 1,
      text,
      cut: cut || isOmitted(row),
      before: [],
      after: [],
    });
  }
  if (contextLines === 0) return found;
  return found.map((line) => ({
    ...line,
    before: neighbours(shown, line.line, -1, contextLines).toReversed(),
    after: neighbours(shown, line.line, 1, contextLines),
  }));
}

async function matchPart(
  row: LineRow & { kind: "match" },
  fd: number,
  signal: AbortSignal,
): Promise<{ text: string; index: number; charactersBefore: number }> {
  const column = row.column - 1;
  if (isOmitted(row)) return readLinePart(fd, row.offset, column, signal);
  const index = row.bytes.toString("utf8", 0, column).length;
  const text = row.bytes.toString();
  return { text, index, charactersBefore: codePointsBefore(text, index) };
}

/** The lines directly before or after, the nearest first. */
function neighbours(
  shown: ReadonlyMap<number, string>,
  line: number,
  step: 1 | -1,
  most: number,
): string[] {
  const texts: string[] = [];
  for (let distance = 1; distance <= most; distance += 1) {
    const text = shown.get(line + step * distance);
    if (text === undefined) break;
    texts.push(text);
  }
  return texts;
}

function charactersOf({ text, before, after }: FoundLine): number {
  return [...before, ...after].reduce((sum, line) => sum + line.length, text.length);
}
