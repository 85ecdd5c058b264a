// The lower end of a terminal: finished text goes up and is never touched again; below it is a block that is
// drawn anew, made of the line that is still open, the live lines and what is being typed. Erases exactly what
// it drew, in one write, and holds no more than the block and what is not written yet.

import { layOutInput, sentLines, type InputLayout, type InputView } from "./input-layout.ts";
import {
  cutToWidth,
  onlyColours,
  layOutRows,
  STYLE_OFF,
  styleBehind,
  type Row,
} from "./styled-text.ts";
import type { LiveLines } from "./terminal.ts";

export type Screen = ReturnType<typeof createScreen>;

export interface ScreenOptions {
  readonly put: (text: string) => void;
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Whether lines that are there are wrapped anew when the width changes. */
  readonly reflows: boolean;
  /** Calls back soon, once for all that happens until then. */
  readonly soon: (draw: () => void) => void;
}

interface Drawn {
  readonly rows: readonly Row[];
  readonly cursorRow: number;
  readonly beforeCursor: Row;
  readonly columns: number;
}

export function createScreen({ put, size, reflows, soon }: ScreenOptions) {
  let finished: string[] = [];
  let finishedSize = 0;
  /** With the colours it begins with. */
  let open = "";
  let live: LiveLines = [];
  let input: InputView | undefined;
  let notes: readonly string[] = [];
  let pinned: readonly string[] = [];
  let drawn: Drawn = NOTHING;
  let isCursorShown = true;
  let state: "drawing" | "hidden" | "closed" = "drawing";

  return {
    write: (text: string) => change(() => append(onlyColours(text))),
    print: (text: string) =>
      change(() => {
        if (open !== "") append("\n");
        append(onlyColours(text.endsWith("\n") ? text : `${text}\n`));
      }),
    live: (lines: LiveLines) =>
      change(() => {
        live = lines;
      }),
    /** Above an input that asks for them. */
    pin: (lines: readonly string[]) =>
      change(() => {
        pinned = lines.map(onlyColours);
      }),
    /** What is typed at the bottom, with lines about it above; the cursor is shown. */
    input: (view: InputView | undefined, about: readonly string[] = []) =>
      change(() => {
        input = view && { ...view, prompt: onlyColours(view.prompt) };
        notes = about.map(onlyColours);
      }),
    /** What was typed becomes text that has been said. */
    sent: ({ prompt, text }: InputView) =>
      change(() => {
        if (open !== "") append("\n");
        for (const line of sentLines(prompt, text, width())) append(`${onlyColours(line)}\n`);
      }),
    clear(): void {
      put(HOME_AND_CLEAR);
      drawn = NOTHING;
      soon(draw);
    },
    /** The size may have changed. */
    resized: () => soon(draw),
    /** Takes the block away and writes nothing until `show`. */
    hide: (): void => {
      if (state !== "drawing") return;
      put(toTop() + CLEAR_FROM_HERE + showCursor(true));
      drawn = NOTHING;
      state = "hidden";
    },
    /** Draws below what others have written. */
    show: (): void => {
      if (state === "closed") return;
      drawn = NOTHING;
      state = "drawing";
      soon(draw);
    },
    /** Ends the open line, takes the block away; nothing is drawn after that. */
    close(): void {
      if (state === "closed") return;
      if (open !== "") append("\n");
      live = [];
      notes = [];
      input = undefined;
      state = "drawing";
      draw();
      put(showCursor(true));
      state = "closed";
    },
  };

  function change(make: () => void): void {
    if (state === "closed") return;
    make();
    if (finishedSize + open.length > MOST_HELD && state === "drawing") draw();
    else soon(draw);
  }

  function append(text: string): void {
    const end = text.lastIndexOf("\n");
    if (end < 0) {
      open += text;
      return;
    }
    const whole = open + text.slice(0, end);
    open = text.slice(end + 1);
    if (!whole.includes("\u001b")) return finish(whole.replaceAll("\n", "\r\n"));
    // Colours that continue over the end of a line begin again in the next one.
    let style = "";
    for (const line of whole.split("\n")) {
      const behind = styleBehind(line, style);
      finish(style + line + (behind === "" ? "" : STYLE_OFF));
      style = behind;
    }
    open = style + open;
  }

  function finish(lines: string): void {
    finished.push(`${lines}\r\n`);
    finishedSize += lines.length;
  }

  function draw(): void {
    if (state !== "drawing") return;
    const block = layOut();
    const text = finished.join("");
    finished = [];
    finishedSize = 0;
    const isResized = drawn.columns !== block.columns;
    const cursor = showCursor(input !== undefined);
    if (text === "" && cursor === "" && !isResized && isSame(drawn, block)) return;
    // Row by row nothing is ever empty; but behind a full row terminals would erase its last character.
    const rows = block.rows.map(({ text }) => text);
    const isInPlace =
      text === "" &&
      !isResized &&
      rows.length > 0 &&
      block.rows.every(({ width }) => width < block.columns);
    put(
      BEGIN +
        toTop() +
        (isInPlace
          ? rows.map((row) => row + CLEAR_RIGHT).join("\r\n") + CLEAR_BELOW
          : CLEAR_FROM_HERE + text + rows.join("\r\n")) +
        toCursor(block) +
        cursor +
        END,
    );
    drawn = block;
  }

  /** Never all of the screen; what is typed comes first, then the last of the live lines. */
  function layOut(): Drawn {
    const { columns, rows } = size();
    let room = Math.max(1, rows - 1);
    const typed: InputLayout = input === undefined ? NOTHING : layOutInput(input, width(), room);
    room -= typed.rows.length;
    const about = last([...(input?.pinned === true ? pinned : []), ...notes], room);
    room -= about.length;
    const below = last(liveLines(), open === "" ? room : room - 1);
    room -= below.length;
    const block = [
      ...last(openRows(room), room),
      ...[...below, ...about].map((line) => cutToWidth(line, width())),
    ];
    const allRows = [...block, ...typed.rows];
    return {
      rows: allRows,
      cursorRow:
        input === undefined ? Math.max(0, allRows.length - 1) : block.length + typed.cursorRow,
      beforeCursor: input === undefined ? (allRows.at(-1) ?? NO_ROW) : typed.beforeCursor,
      columns,
    };
  }

  function liveLines(): string[] {
    const lines = typeof live === "function" ? live() : live;
    return lines.flatMap((line) => onlyColours(line).split("\n"));
  }

  /** The open line; what there is no room for is finished, row by row. */
  function openRows(room: number): Row[] {
    if (open === "") return [];
    const rows = layOutRows(open, size().columns);
    const surplus = rows.length - Math.max(1, room);
    if (surplus <= 0) return rows;
    for (const { text } of rows.slice(0, surplus)) finish(text);
    const kept = rows.slice(surplus);
    open = kept.map(({ text }) => text).join("") + styleBehind(open, "");
    return kept;
  }

  /** Of rows that may have the cursor behind them: the last column is for that. */
  function width(): number {
    return Math.max(1, size().columns - 1);
  }

  function toTop(): string {
    const { columns } = size();
    const rows =
      reflows && drawn.columns !== columns ? rowsAfterReflow(drawn, columns) : drawn.cursorRow;
    return `${up(rows)}\r`;
  }

  function showCursor(shown: boolean): string {
    if (shown === isCursorShown) return "";
    isCursorShown = shown;
    return shown ? "\u001b[?25h" : "\u001b[?25l";
  }
}

/** How far above the cursor the first row is, once the terminal has wrapped what is wider than it now is. */
function rowsAfterReflow({ rows, cursorRow, beforeCursor }: Drawn, columns: number): number {
  const whole = rows.slice(0, cursorRow).flatMap(({ text }) => layOutRows(text, columns));
  const before = layOutRows(beforeCursor.text, columns);
  // Where a full row continues, the cursor goes with what follows it.
  const goesOn =
    before.at(-1)?.width === columns && beforeCursor.width < (rows[cursorRow]?.width ?? 0);
  return whole.length + before.length - (goesOn ? 0 : 1);
}

/** What is before the cursor is written again, so that the cursor is right however wide a terminal thinks it is. */
function toCursor({ rows, cursorRow, beforeCursor }: Drawn): string {
  const below = rows.length - 1 - cursorRow;
  const isAtEnd = below <= 0 && beforeCursor.width === (rows.at(-1) ?? NO_ROW).width;
  return isAtEnd ? "" : `${up(below)}\r${beforeCursor.text}`;
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : "";
}

function isSame(one: Drawn, other: Drawn): boolean {
  return (
    one.cursorRow === other.cursorRow &&
    one.beforeCursor.text === other.beforeCursor.text &&
    one.rows.length === other.rows.length &&
    one.rows.every(({ text }, at) => text === other.rows[at]?.text)
  );
}

function last<T>(items: readonly T[], count: number): readonly T[] {
  return count > 0 ? items.slice(-count) : [];
}

const NO_ROW: Row = { text: "", width: 0 };
const NOTHING: Drawn = { rows: [], cursorRow: 0, beforeCursor: NO_ROW, columns: 0 };
/** In characters; more is written at once, however much comes before anything else can happen. */
const MOST_HELD = 65_536;
const CLEAR_BELOW = "\u001b[J";
const CLEAR_RIGHT = "\u001b[K";
/** Not in one: some terminals keep what is cleared from the upper left corner in the scrollback. */
const CLEAR_FROM_HERE = `${CLEAR_RIGHT}\u001b[C${CLEAR_BELOW}\r`;
const HOME_AND_CLEAR = "\u001b[H\u001b[2J";
/** A terminal that knows these shows everything between them at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
