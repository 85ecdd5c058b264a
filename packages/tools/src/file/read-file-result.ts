// How a read is told. The model gets the text by itself, exactly, and a second block only where there is
// something to say; programs get the same as data.

import { toolResult, type HandlerResult, type Roots, type ToolFailure } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { shownPath } from "../path/index.ts";
import type { TextFormat } from "../text/index.ts";
import type { LinesRead } from "./line-reader.ts";

interface FileAsRead {
  path: string;
  size: number;
  roots: Roots;
}

interface TextAsRead extends FileAsRead {
  startLine: number;
  format: TextFormat;
  /** Somebody wrote to it meanwhile. */
  changed: boolean;
}

export function linesResult(file: TextAsRead, read: LinesRead): HandlerResult {
  if (read.lineCount === 0) {
    if (file.startLine === 1) return emptyResult(file);
    throw pastTheEnd(file, read.totalLines ?? 0);
  }
  const { text, lineCount, nextStartLine, totalLines, undecodable } = read;
  const endLine = file.startLine + lineCount - 1;
  const { encoding, bom } = file.format;
  const note = noteOf(file, read, endLine);
  const isBlank = text.trim() === "";
  return toolResult({
    // A blank block is refused by some providers; the note says what it would have held.
    content: [
      ...(isBlank ? [] : [{ type: "text" as const, text }]),
      ...(note === "" ? [] : [{ type: "text" as const, text: note }]),
    ],
    summary: `Read ${linesNamed(file.startLine, endLine)} of ${nameOf(file)}`,
    data: {
      path: file.path,
      start_line: file.startLine,
      end_line: endLine,
      line_count: lineCount,
      truncated: nextStartLine !== undefined,
      ...omitUndefined({ next_start_line: nextStartLine }),
      truncated_lines: read.cutLines,
      encoding,
      bom,
      line_ending: read.lineEnding,
      size: file.size,
      ...(totalLines === undefined
        ? {}
        : { total_lines: totalLines, final_newline: text.endsWith("\n") }),
      ...(undecodable ? { undecodable } : {}),
      ...(file.changed ? { changed_while_read: true } : {}),
    },
  });
}

/** A file without a line: nothing, or nothing but a byte order mark. */
export function emptyResult(
  file: FileAsRead & { startLine: number; format?: TextFormat },
): HandlerResult {
  if (file.startLine > 1) throw pastTheEnd(file, 0);
  return toolResult({
    content: [{ type: "text", text: `${nameOf(file)} is empty (its size is ${file.size} bytes).` }],
    summary: `${nameOf(file)} is empty`,
    data: {
      path: file.path,
      start_line: 1,
      end_line: 0,
      line_count: 0,
      truncated: false,
      truncated_lines: [],
      encoding: file.format?.encoding ?? "utf-8",
      bom: file.format?.bom ?? false,
      line_ending: "none",
      size: file.size,
      total_lines: 0,
      final_newline: false,
    },
  });
}

interface BinaryAsRead extends FileAsRead {
  media_type: string;
  sha256?: string;
}

/** `shown`: the bytes of an image that the model is to see. */
export function binaryResult(file: BinaryAsRead, shown?: Buffer): HandlerResult {
  const { path, size, media_type, sha256 } = file;
  const kind = `${nameOf(file)} is no text but ${media_type}, ${size} bytes`;
  return toolResult({
    content:
      shown === undefined
        ? [{ type: "text", text: `${kind}. Its content is not shown.` }]
        : [
            { type: "image", media_type, data: shown.toString("base64") },
            { type: "text", text: `${kind}.` },
          ],
    summary: kind,
    data: { path, encoding: "binary", media_type, size, ...omitUndefined({ sha256 }) },
  });
}

function noteOf(file: TextAsRead, read: LinesRead, endLine: number): string {
  const notes: string[] = [];
  if (read.nextStartLine !== undefined) {
    const lines = linesNamed(file.startLine, endLine);
    notes.push(
      `This is ${lines} of ${nameOf(file)}. Read on with start_line ${read.nextStartLine}.`,
    );
  }
  if (read.cutLines.length > 0) notes.push(`Too long, so cut: ${listed(read.cutLines)}.`);
  if (read.text.trim() === "") {
    const shown = read.text.length > MAX_SHOWN_BLANK ? "" : `: ${JSON.stringify(read.text)}`;
    notes.push(
      `${nameOf(file)} has only white space in ${linesNamed(file.startLine, endLine)}${shown}.`,
    );
  }
  if (file.format.encoding !== "utf-8") notes.push(`The encoding is ${file.format.encoding}.`);
  if (read.undecodable) notes.push("U+FFFD stands for bytes that do not decode.");
  if (read.lineEnding === "crlf") notes.push("Lines end in CRLF, shown here as LF.");
  if (read.lineEnding === "mixed") notes.push("Some lines end in CRLF, all are shown with LF.");
  if (file.changed) notes.push("The file was written to while it was read: read it again.");
  return notes.join(" ");
}

const MAX_SHOWN_BLANK = 100;
const MAX_LISTED = 20;

function listed(lines: readonly number[]): string {
  const more = lines.length - MAX_LISTED;
  const shown = lines.slice(0, MAX_LISTED).join(", ");
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

function linesNamed(first: number, last: number): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

function pastTheEnd(file: FileAsRead & { startLine: number }, totalLines: number): ToolFailure {
  const has = totalLines === 1 ? "1 line" : `${totalLines} lines`;
  return invalidArguments(
    "start_line_past_end",
    `start_line ${file.startLine} is past the end: ${nameOf(file)} has ${has}. Give a smaller start_line.`,
    { path: file.path, total_lines: totalLines },
  );
}

function nameOf({ path, roots }: FileAsRead): string {
  return shownPath(roots.project, path);
}
