// How a read is reported. The model gets the text on its own, exactly, and a second block only where there is
// something to say; programs get the same as data.

import { toolResult, type HandlerResult, type Roots, type ToolFailure } from "@soong/core";
import { invalidArguments } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { shownPath } from "../path/index.ts";
import type { TextFormat } from "../text/text-format.ts";
import type { LinesRead } from "./line-reader.ts";

interface FileAsRead {
  path: string;
  size: number;
  roots: Roots;
}

interface TextAsRead extends FileAsRead {
  startLine: number;
  format: TextFormat;
  /** Someone wrote to it meanwhile. */
  changed: boolean;
}

export function linesResult(file: TextAsRead, read: LinesRead): HandlerResult {
  const { path, size, startLine, format } = file;
  const { text, lineCount, nextStartLine, totalLines, undecodable } = read;
  const isEmpty = lineCount === 0;
  if (isEmpty && startLine > 1) throw pastTheEnd(file, totalLines ?? 0);
  const endLine = startLine + lineCount - 1;
  const notes = isEmpty ? "" : createNote(file, read, endLine);
  // Nothing, or nothing but a byte order mark.
  const note = isEmpty ? `${nameFile(file)} is empty (its size is ${size} bytes).` : notes;
  // A blank block is refused by some providers; the note says what it would have held.
  const blocks = [text.trim() === "" ? "" : text, note].filter((block) => block !== "");
  return toolResult({
    content: blocks.map((block) => ({ type: "text", text: block })),
    summary: isEmpty
      ? `${nameFile(file)} is empty`
      : `Read ${linesNamed(startLine, endLine)} of ${nameFile(file)}`,
    data: {
      path,
      start_line: startLine,
      end_line: endLine,
      line_count: lineCount,
      truncated: nextStartLine !== undefined,
      truncated_lines: read.cutLines,
      encoding: format.encoding,
      bom: format.bom,
      line_ending: read.lineEnding,
      size,
      ...omitUndefined({
        next_start_line: nextStartLine,
        total_lines: totalLines,
        final_newline: totalLines === undefined ? undefined : text.endsWith("\n"),
        undecodable: undecodable || undefined,
        changed_while_read: (!isEmpty && file.changed) || undefined,
      }),
    },
  });
}

/** Of a file without a byte. */
export const NO_LINES: LinesRead = {
  text: "",
  lineCount: 0,
  totalLines: 0,
  cutLines: [],
  lineEnding: "none",
  undecodable: false,
};

interface BinaryAsRead extends FileAsRead {
  media_type: string;
  sha256?: string;
}

/** `shown`: the bytes of an image that the model is to see. */
export function binaryResult(file: BinaryAsRead, shown?: Buffer): HandlerResult {
  const { path, size, media_type, sha256 } = file;
  const kind = `${nameFile(file)} is not text but ${media_type}, ${size} bytes`;
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

function createNote(file: TextAsRead, read: LinesRead, endLine: number): string {
  const { nextStartLine, cutLines, text, lineEnding } = read;
  const { encoding } = file.format;
  const lines = linesNamed(file.startLine, endLine);
  const blank = text.length > MAX_SHOWN_BLANK ? "" : `: ${JSON.stringify(text)}`;
  const notes: [boolean, string][] = [
    [
      nextStartLine !== undefined,
      `This is ${lines} of ${nameFile(file)}. Read on with start_line ${nextStartLine}.`,
    ],
    [cutLines.length > 0, `Too long, so cut: ${listLines(cutLines)}.`],
    [text.trim() === "", `${nameFile(file)} has only white space in ${lines}${blank}.`],
    [encoding !== "utf-8", `The encoding is ${encoding}.`],
    [read.undecodable, "U+FFFD replaces bytes that do not decode."],
    [lineEnding === "crlf", "Lines end in CRLF, shown here as LF."],
    [lineEnding === "mixed", "Some lines end in CRLF, all are shown with LF."],
    [file.changed, "The file was written to while it was read: read it again."],
  ];
  return notes.flatMap(([holds, note]) => (holds ? [note] : [])).join(" ");
}

const MAX_SHOWN_BLANK = 100;
const MAX_LISTED = 20;

function listLines(lines: readonly number[]): string {
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
    `start_line ${file.startLine} is past the end: ${nameFile(file)} has ${has}. Give a smaller start_line.`,
    { path: file.path, total_lines: totalLines },
  );
}

function nameFile({ path, roots }: FileAsRead): string {
  return shownPath(roots.project, path);
}
