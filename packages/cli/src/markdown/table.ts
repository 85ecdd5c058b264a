// A table in rows of a screen: columns as wide as their text where there is room for that, else cells of several rows, and
// where there is no room for columns one line for each cell.

import { type Colours, measureWidth } from "../output/index.ts";
import { renderInline } from "./inline.ts";
import {
  measureRow,
  paintRow,
  splitWords,
  wrapWords,
  type Style,
  type Word,
} from "./wrap-words.ts";

export type Align = "left" | "right" | "center";

export interface Table {
  readonly header: readonly string[];
  readonly aligns: readonly Align[];
  readonly rows: readonly (readonly string[])[];
  /** Of the part before this one, which has the header. */
  readonly widths?: readonly number[] | undefined;
}

export interface TableRows {
  readonly lines: string[];
  readonly widths: readonly number[];
}

/** The cells of a line; undefined: it is none of a table. */
export function splitCells(line: string): string[] | undefined {
  const text = line.trim();
  if (!text.includes("|")) return undefined;
  const cells: string[] = [];
  let cell = "";
  for (const [part] of text.matchAll(/\\\||`+[^`]*`+|\||[^|\\`]+|[\\`]/g)) {
    if (part === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += part.replaceAll("\\|", "|");
  }
  cells.push(cell.trim());
  if (text.startsWith("|")) cells.shift();
  if (/(?<!\\)\|$/.test(text)) cells.pop();
  return cells.length === 0 ? undefined : cells;
}

/** `|---|:-:|` */
export function readAligns(line: string): Align[] | undefined {
  const cells = line.includes("-") ? splitCells(line) : undefined;
  if (cells === undefined || !cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return cells.map((cell) =>
    !cell.endsWith(":") ? "left" : cell.startsWith(":") ? "center" : "right",
  );
}

export function renderTable(
  { header, aligns, rows, widths: given }: Table,
  columns: number,
  colours: Colours,
): TableRows {
  const isColoured = colours.bold("x") !== "x";
  const count = header.length;
  const cellsOf = (row: readonly string[], styles: readonly Style[] = []): Word[][] =>
    header.map((_, at) => splitWords(renderInline(row[at] ?? "", isColoured, styles)));
  const head = cellsOf(header, ["bold"]);
  const body = rows.map((row) => cellsOf(row));
  const room = columns - GAP * (count - 1);
  if (room < count * NARROWEST) return { lines: records(), widths: [] };
  const widths = given ?? shareWidth([head, ...body], room);
  const rule = colours.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  const lines = [
    ...(given === undefined ? [...lay(head), rule] : []),
    ...body.flatMap((row) => lay(row)),
  ];
  return { lines, widths };

  function lay(row: readonly Word[][]): string[] {
    const cells = row.map((words, at) => wrapWords(words, widths[at] ?? NARROWEST));
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, at) => {
          const words = cell[line] ?? [];
          const free = Math.max(0, (widths[at] ?? 0) - measureRow(words));
          const left =
            aligns[at] === "right" ? free : aligns[at] === "center" ? Math.floor(free / 2) : 0;
          const isLast = at === count - 1;
          return (
            " ".repeat(left) + paintRow(words, colours) + (isLast ? "" : " ".repeat(free - left))
          );
        })
        .join(colours.dim(" │ ")),
    );
  }

  /** No room for columns. */
  function records(): string[] {
    return body.flatMap((row, at) => [
      ...(at > 0 || given !== undefined ? [""] : []),
      ...row.flatMap((words, column) => {
        const name = header[column] ?? "";
        const label = renderInline(name === "" ? "" : `${name}: `, false, ["bold"]);
        return wrapWords([...splitWords(label), ...words.map(spaced)], columns).map((line) =>
          paintRow(line, colours),
        );
      }),
    ]);
  }
}

function spaced(word: Word, at: number): Word {
  return at > 0 || word === "line_end" ? word : { ...word, space: { text: " ", styles: [] } };
}

/** What each column would like, and of what is too much the widest give first. */
function shareWidth(rows: readonly (readonly Word[][])[], room: number): number[] {
  const wished = (rows[0] ?? []).map((_, at) =>
    Math.max(
      1,
      ...rows.map((row) =>
        Math.max(...wrapWords(row[at] ?? [], Number.POSITIVE_INFINITY).map(measureRow)),
      ),
    ),
  );
  const widths = [...wished];
  let surplus = widths.reduce((sum, width) => sum + width, 0) - room;
  while (surplus > 0) {
    const widest = Math.max(...widths);
    const next = Math.max(0, ...widths.filter((width) => width < widest));
    const at = widths.flatMap((width, index) => (width === widest ? [index] : []));
    const step = Math.max(1, Math.min(widest - next, Math.floor(surplus / at.length)));
    for (const index of at) {
      const taken = Math.min(step, surplus);
      widths[index] = widest - taken;
      surplus -= taken;
    }
  }
  return widths;
}

/** " │ " */
const GAP = measureWidth(" │ ");
/** A column of less is not read. */
const NARROWEST = 4;
