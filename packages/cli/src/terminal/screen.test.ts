import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitGraphemes, graphemeWidth, measureWidth } from "../output/grapheme-width.ts";
import { createScreen, type Screen } from "./screen.ts";

describe("the screen", () => {
  it("keeps streamed text, with the live lines and what is typed below it", () => {
    const { screen, glass, frame } = open(20, 10);
    screen.write("Hel");
    screen.live(["working"]);
    screen.input({ prompt: "> ", text: "abc", cursor: 1 }, ["a note"]);
    frame();
    expect(glass.lines()).toEqual(["Hel", "working", "a note", "> abc"]);
    expect(glass.beforeCursor()).toBe("> a");
    screen.write("lo\nWor");
    screen.print("a line of its own");
    frame();
    expect(glass.lines()).toEqual([
      "Hello",
      "Wor",
      "a line of its own",
      "working",
      "a note",
      "> abc",
    ]);
    screen.live([]);
    screen.input(undefined);
    frame();
    expect(glass.lines()).toEqual(["Hello", "Wor", "a line of its own"]);
  });

  it("writes once for all that changed, and nothing when nothing did", () => {
    const { screen, puts, frame } = open(20, 10);
    screen.write("a\nb\n");
    screen.live(["1", "2"]);
    screen.live(["3"]);
    screen.write("c");
    frame();
    expect(puts).toHaveLength(1);
    screen.live(["3"]);
    screen.write("");
    frame();
    expect(puts).toHaveLength(1);
  });

  it("never erases more than it drew to change a live line", () => {
    const { screen, puts, frame } = open(20, 10);
    screen.live(["one", "two"]);
    frame();
    screen.live(["one", "2"]);
    frame();
    // Up one row, both rows again with what is right of them erased, and nothing that empties the screen first.
    expect(puts[1]).toBe("\u001b[?2026h\u001b[1A\rone\u001b[K\r\n2\u001b[K\u001b[J\u001b[?2026l");
  });

  it("shows the cursor only while something is typed", () => {
    const { screen, glass, frame } = open(20, 10);
    screen.live(["one"]);
    frame();
    expect(glass.isCursorShown()).toBe(false);
    screen.input({ prompt: "", text: "", cursor: 0 });
    frame();
    expect(glass.isCursorShown()).toBe(true);
    screen.input(undefined);
    frame();
    expect(glass.isCursorShown()).toBe(false);
    screen.close();
    expect(glass.isCursorShown()).toBe(true);
  });

  it("cuts live lines to the width and to the last of them that leave a row for the text", () => {
    const { screen, glass, frame } = open(10, 5);
    screen.print("text");
    screen.live(["1", "2", "3", "a line too long", "日本日本日本"]);
    screen.input({ prompt: "> ", text: "", cursor: 0 });
    frame();
    expect(glass.screen()).toEqual(["text", "3", "a line t…", "日本日本…", ">"]);
  });

  it("shows the part of a long input around the cursor", () => {
    const { screen, glass, frame } = open(10, 4);
    const text = "1\n2\n3\n4\n5\n6\n7";
    for (const [cursor, before] of [
      [0, ">"],
      [7, "4"],
      [text.length, "7"],
    ] as const) {
      screen.input({ prompt: "> ", text, cursor });
      frame();
      expect(glass.lines()).toHaveLength(3);
      expect(glass.beforeCursor().trim()).toBe(before);
    }
    expect(glass.lines()).toEqual(["  5", "  6", "  7"]);
  });

  it("finishes a line that grows beyond the screen row by row, and keeps no more than a screen of it", () => {
    const { screen, glass, frame } = open(10, 5);
    screen.live(["live"]);
    const text = Array.from({ length: 200 }, (_, at) => `${at} `).join("");
    for (const word of text.split(/(?<= )/)) {
      screen.write(`\u001b[31m${word}\u001b[39m`);
      frame();
    }
    const written = glass.lines().slice(0, -1).join("");
    expect(written.replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
    expect(glass.screen().at(-1)).toBe("live");
    screen.write("\nnext");
    frame();
    expect(glass.lines().slice(-3)).toEqual([expect.stringMatching(/199 ?$/), "next", "live"]);
  });

  it("ends the colours of a text before anything else, and continues with them in the next line", () => {
    const { screen, puts, frame } = open(40, 10);
    screen.live(["live"]);
    screen.write("\u001b[2m\u001b[31mred\nstill ");
    frame();
    expect(puts[0]).toContain("\u001b[2m\u001b[31mred\u001b[0m\r\n");
    expect(puts[0]).toContain("\u001b[2;31mstill \u001b[0m\r\nlive");
    screen.write("red\u001b[39m\u001b[22m plain\nplain\n");
    frame();
    expect(puts[1]).toContain("\u001b[2;31mstill red\u001b[39m\u001b[22m plain\r\nplain\r\nlive");
  });

  it("continues with the colours of a line of which a part is finished", () => {
    const { screen, puts, frame } = open(10, 3);
    screen.write(`\u001b[31m${"x".repeat(35)}`);
    frame();
    screen.write("red");
    frame();
    expect(puts.at(-1)).toContain("\u001b[31mred");
  });

  it("lets nothing through that a terminal would obey, but colours", () => {
    const { screen, puts, frame } = open(80, 10);
    screen.write("a\u001b[2Jb\u0007\rc\u001b]0;title\u0007\n");
    screen.live(["x\u001b[5Ay"]);
    screen.input({ prompt: "\u0007> ", text: "p\u202eq\u200b", cursor: 3 }, ["\u001b[9A"]);
    frame();
    expect(puts.join("")).toContain("a\\u001b[2Jb\\u0007\\rc\\u001b]0;title\\u0007\r\n");
    expect(puts.join("")).toContain("x\\u001b[5Ay");
    expect(puts.join("")).toContain("\\u001b[9A\r\n\\u0007> p\\u202eq\\u200b");
  });

  it("gives the place back while it is hidden, and draws anew below what others wrote", () => {
    const { screen, glass, frame } = open(20, 10);
    screen.write("said\nopen");
    screen.live(["live"]);
    frame();
    screen.hide();
    expect(glass.lines()).toEqual(["said"]);
    screen.write(" line");
    frame();
    expect(glass.lines()).toEqual(["said"]);
    glass.put("$ fg\r\n");
    screen.show();
    frame();
    expect(glass.lines()).toEqual(["said", "$ fg", "open line", "live"]);
  });

  it("leaves what was said, and nothing live, when it is closed", () => {
    const { screen, glass, frame, puts } = open(20, 10);
    screen.write("said\nopen");
    screen.live(["live"]);
    screen.input({ prompt: "> ", text: "typed", cursor: 5 });
    frame();
    screen.close();
    expect(glass.lines()).toEqual(["said", "open"]);
    expect(glass.beforeCursor()).toBe("");
    const count = puts.length;
    screen.close();
    screen.write("late");
    screen.hide();
    screen.show();
    frame();
    expect(puts).toHaveLength(count);
  });

  it("clears the screen and continues at its top", () => {
    const { screen, glass, frame } = open(20, 5);
    screen.print("1\n2\n3");
    screen.live(["live"]);
    frame();
    screen.clear();
    frame();
    expect(glass.screen()).toEqual(["live"]);
  });

  it("holds little of a flood, whether it comes in lines or in one that never ends", () => {
    for (const piece of ["a line of the flood, as long as that\n", "no end of it "]) {
      const { screen, puts, frame } = open(80, 24, false);
      for (let at = 0; at < 9000; at += 1) {
        screen.write(piece);
        if (at % 10 === 0) screen.live([`line ${at}`]);
      }
      expect(puts.length).toBeGreaterThanOrEqual(1);
      expect(Math.max(...puts.map((put) => put.length))).toBeLessThan(90_000);
      frame();
      expect(puts.join("").length).toBeGreaterThan(9000 * piece.length);
    }
  });

  it("shows the same no matter what happened before: every change draws what a fresh screen would show", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { screen, glass, frame } = open(24, 12);
        const said = { text: "", live: [] as string[], input: undefined as Input | undefined };
        for (const next of steps) {
          apply(screen, glass, said, next);
          if (next.draws) frame();
          else if (next.kind === "resize") frame();
        }
        frame();
        const fresh = open(glass.size().columns, 12);
        fresh.screen.write(said.text);
        fresh.screen.live(said.live);
        fresh.screen.input(said.input);
        fresh.frame();
        expect(glass.lines()).toEqual(fresh.glass.lines());
        expect(glass.beforeCursor()).toBe(fresh.glass.beforeCursor());
      }),
    );
  });
});

interface Input {
  readonly prompt: string;
  readonly text: string;
  readonly cursor: number;
}

const words = fc
  .array(fc.constantFrom("a", "word ", "日本", "é", "👍🏽", "\u001b[31mred\u001b[39m"), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""));

const step = fc.record({
  kind: fc.constantFrom("write", "line", "print", "live", "input", "none", "resize"),
  text: words,
  columns: fc.integer({ min: 9, max: 60 }),
  draws: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

function apply(
  screen: Screen,
  glass: Glass,
  said: { text: string; live: string[]; input: Input | undefined },
  { kind, text, columns }: Step,
): void {
  switch (kind) {
    case "write": {
      // An open line longer than the screen is another test.
      const open = said.text.slice(said.text.lastIndexOf("\n") + 1);
      const next = measureWidth(open + text) > 40 ? `\n${text}` : text;
      said.text += next;
      screen.write(next);
      break;
    }
    case "line":
      said.text += `${text}\n`;
      screen.write(`${text}\n`);
      break;
    case "print":
      said.text += `${said.text === "" || said.text.endsWith("\n") ? "" : "\n"}${text}\n`;
      screen.print(text);
      break;
    case "live":
      said.live = [text, `${text}${text}`];
      screen.live(said.live);
      break;
    case "input": {
      const typed = splitGraphemes(text.replaceAll("\u001b[31m", "").replaceAll("\u001b[39m", ""));
      const cursor = typed.slice(0, columns % (typed.length + 1)).join("").length;
      said.input = { prompt: "> ", text: typed.join(""), cursor };
      screen.input(said.input);
      break;
    }
    case "none":
      said.input = undefined;
      screen.input(undefined);
      break;
    case "resize":
      glass.resize(columns);
      screen.resized();
      break;
  }
}

function open(columns: number, rows: number, isShown = true) {
  const glass = createGlass(columns, rows);
  const puts: string[] = [];
  let draw: (() => void) | undefined;
  const screen = createScreen({
    put(text) {
      if (text === "") return;
      puts.push(text);
      if (isShown) glass.put(text);
    },
    size: glass.size,
    reflows: true,
    soon(next) {
      draw = next;
    },
  });
  const frame = (): void => {
    const next = draw;
    draw = undefined;
    next?.();
  };
  return { screen, glass, puts, frame };
}

type Glass = ReturnType<typeof createGlass>;

/** As much of a terminal as it takes to see what is drawn: rows that wrap, scroll, and are wrapped anew. */
function createGlass(firstColumns: number, firstRows: number) {
  let columns = firstColumns;
  const rows = firstRows;
  /** One cell for each column; behind a wide character an empty one. */
  let grid: { cells: string[]; goesOn: boolean }[] = [{ cells: [], goesOn: false }];
  let row = 0;
  let column = 0;
  let top = 0;
  let shown = true;

  return {
    put,
    size: () => ({ columns, rows }),
    isCursorShown: () => shown,
    screen: () => trimmed(grid.slice(top).map(({ cells }) => textOf(cells))),
    lines: () => trimmed(lines().map(({ cells }) => textOf(cells))),
    beforeCursor: () => textOf(grid[row]!.cells.slice(0, column), ""),
    resize(next: number): void {
      const at = lines().findLast(({ first }) => first <= row)!;
      const offset = (row - at.first) * columns + column;
      const kept = lines();
      columns = next;
      grid = [];
      for (const line of kept) {
        const first = grid.length;
        for (const cells of wrapped(line.cells)) grid.push({ cells, goesOn: true });
        grid.at(-1)!.goesOn = false;
        if (line.first !== at.first) continue;
        row = Math.min(first + Math.floor(offset / columns), grid.length - 1);
        column = Math.min(offset - (row - first) * columns, columns);
      }
      top = Math.max(0, row - rows + 1);
    },
  };

  function put(text: string): void {
    // oxlint-disable-next-line no-control-regex -- this is the terminal
    const parts = text.match(/\u001b\[\??[\d;]*[A-Za-z]|\r|\n|[^\u001b\r\n]+/g) ?? [];
    for (const part of parts) {
      if (part === "\r") column = 0;
      else if (part === "\n") down();
      else if (part.startsWith("\u001b[")) obey(part);
      else splitGraphemes(part).forEach(print);
    }
  }

  function obey(sequence: string): void {
    if (sequence.endsWith("m") || sequence.includes("?2026")) return;
    if (sequence.includes("?25")) shown = sequence.endsWith("h");
    else if (sequence === "\u001b[C") column = Math.min(columns - 1, column + 1);
    else if (sequence.endsWith("A")) row = Math.max(top, row - Number(sequence.slice(2, -1)));
    else if (sequence === "\u001b[H") [row, column] = [top, 0];
    else if (sequence === "\u001b[2J") grid.length = top + 1;
    else {
      if (sequence.endsWith("J") && row === top && column === 0 && grid[row]!.cells.length > 0) {
        throw new Error("this would be kept in the scrollback");
      }
      // As real ones do: behind a full row the last character goes.
      grid[row]!.cells.length = Math.min(grid[row]!.cells.length, column, columns - 1);
      grid[row]!.goesOn = false;
      if (sequence.endsWith("J")) grid.length = row + 1;
    }
    if (sequence === "\u001b[2J") grid[top] = { cells: [], goesOn: false };
  }

  function print(grapheme: string): void {
    if (grapheme === "\t") {
      for (let left = 8 - (column % 8); left > 0 && column < columns; left -= 1) print(" ");
      return;
    }
    const width = graphemeWidth(grapheme);
    if (column + width > columns) {
      grid[row]!.goesOn = true;
      down();
      column = 0;
    }
    const { cells } = grid[row]!;
    while (cells.length < column) cells.push(" ");
    cells.splice(column, width, grapheme, ...Array.from({ length: width - 1 }, () => ""));
    column += width;
  }

  function down(): void {
    row += 1;
    grid[row] ??= { cells: [], goesOn: false };
    top = Math.max(top, row - rows + 1);
  }

  function lines() {
    const joined: { cells: string[]; first: number }[] = [];
    let isNew = true;
    for (const [first, { cells, goesOn }] of grid.entries()) {
      if (isNew) joined.push({ cells: [...cells], first });
      else joined.at(-1)!.cells.push(...cells);
      isNew = !goesOn;
    }
    return joined;
  }

  function wrapped(cells: readonly string[]): string[][] {
    const parts: string[][] = [[]];
    for (const [at, cell] of cells.entries()) {
      if (cell === "") continue;
      const width = cells[at + 1] === "" ? 2 : 1;
      if (parts.at(-1)!.length + width > columns) parts.push([]);
      parts.at(-1)!.push(cell, ...(width === 2 ? [""] : []));
    }
    return parts;
  }

  function textOf(cells: readonly string[], blanks = " "): string {
    const text = cells.join("");
    return blanks === " " ? text.trimEnd() : text;
  }

  function trimmed(texts: string[]): string[] {
    return texts.slice(0, texts.findLastIndex((text) => text !== "") + 1);
  }
}
