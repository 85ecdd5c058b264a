// The text that is typed, behind its prompt, as rows of a screen: as many as there is room for, around the
// cursor.

import { isLowSurrogate } from "@soong/schema";
import { visibleLine, splitGraphemes, graphemeWidth, measureWidth } from "../output/index.ts";
import { layOutRows, type Row } from "./styled-text.ts";

export interface InputView {
  readonly prompt: string;
  readonly text: string;
  /** In code units of the text. */
  readonly cursor: number;
  /** Below the pinned lines. */
  readonly pinned?: boolean;
}

export interface InputLayout {
  readonly rows: readonly Row[];
  /** The row the cursor is in, and what is before it there. */
  readonly cursorRow: number;
  readonly beforeCursor: Row;
}

export function layOutInput(view: InputView, width: number, height: number): InputLayout {
  const { prompt, text, cursor } = view;
  const promptRows = prompt.split("\n").flatMap((line) => layOutRows(line, width));
  const head = promptRows.at(-1) ?? NO_ROW;
  const indent = indentFor(head, width);
  const lines = text.split("\n");
  const cursorLine = text.slice(0, cursor).split("\n").length - 1;
  const cursorColumn = cursor - (cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1);

  // What is further away cannot be seen, and a pasted book should not be laid out at every key.
  const reach = Math.max(SMALLEST_REACH, 2 * width * height);
  const first = Math.max(0, cursorLine - height);
  const rows: Row[] = first === 0 ? promptRows.slice(0, -1) : [];
  let cursorRow = 0;
  let beforeCursor: Row = head;
  for (const [index, line] of lines.slice(first, cursorLine + height + 1).entries()) {
    const at = index + first;
    const column = at < cursorLine ? line.length : at > cursorLine ? 0 : cursorColumn;
    const from = beginningBefore(line, column, reach);
    const seen = line.slice(from, column + reach);
    const start = at === 0 && from === 0 ? head : indent;
    if (at === cursorLine) {
      const before = rowsOfLine(line.slice(from, column), start, indent, width);
      const next = rowsOfLine(seen, start, indent, width);
      // Behind a full row that continues, the cursor is where it continues.
      const last = before.length - 1;
      const goesOn = next.length > before.length && before[last]?.width === next[last]?.width;
      cursorRow = rows.length + last + (goesOn ? 1 : 0);
      beforeCursor = goesOn ? indent : (before[last] ?? start);
      rows.push(...next);
    } else rows.push(...rowsOfLine(seen, start, indent, width));
  }

  const top = Math.max(0, Math.min(cursorRow - Math.floor(height / 2), rows.length - height));
  return { rows: rows.slice(top, top + height), cursorRow: cursorRow - top, beforeCursor };
}

/** Where to begin with a long line: it stays the same for a while, so that rows do not jump at every key. */
function beginningBefore(line: string, column: number, reach: number): number {
  const from = Math.max(0, Math.floor(column / reach) - 1) * reach;
  return isLowSurrogate(line.charCodeAt(from)) ? from + 1 : from;
}

/** What was typed as it stays on the screen: whole lines, which the terminal may wrap as it likes. */
export function sentLines(prompt: string, text: string, width: number): string[] {
  const head = prompt.slice(prompt.lastIndexOf("\n") + 1);
  const indent = indentFor(layOutRows(head, width).at(-1) ?? NO_ROW, width).text;
  return text
    .split("\n")
    .map(
      (line, at) =>
        (at === 0 ? prompt : indent) + splitGraphemes(line).map(renderGrapheme).join(""),
    );
}

/** Further rows stand under the first, where the prompt leaves room for that. */
function indentFor(head: Row, width: number): Row {
  const columns = head.width <= width / 2 ? head.width : 0;
  return { text: " ".repeat(columns), width: columns };
}

function rowsOfLine(line: string, start: Row, indent: Row, width: number): Row[] {
  const rows: Row[] = [];
  let row = start;
  for (const grapheme of splitGraphemes(line)) {
    const text = grapheme === "\t" ? " ".repeat(tabAt(row.width, width)) : renderGrapheme(grapheme);
    const columns = measureWidth(text);
    if (row.width + columns > width && row !== indent) {
      rows.push(row);
      row = indent;
    }
    row = { text: row.text + text, width: row.width + columns };
  }
  rows.push(row);
  return rows;
}

function tabAt(column: number, width: number): number {
  return Math.max(1, Math.min(TAB - (column % TAB), width - column));
}

/** A character automatically that could not be seen is written out; inside others it does its work. */
function renderGrapheme(grapheme: string): string {
  return grapheme === "\t" || graphemeWidth(grapheme) > 0 ? grapheme : visibleLine(grapheme);
}

const NO_ROW: Row = { text: "", width: 0 };
const TAB = 8;
/** In code units of a line, to both sides. */
const SMALLEST_REACH = 4096;
