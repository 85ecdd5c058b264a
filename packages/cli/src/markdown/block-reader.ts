// Reads Markdown line by line and shows each block as soon as it is over: what the lines are within, and which block is open, is
// all it keeps.

import { visible, type Colours, measureWidth } from "../output/index.ts";
import {
  countSpaces,
  matchContainers,
  matchQuote,
  readItem,
  type Container,
} from "./containers.ts";
import { highlightLine, type CodeState } from "./highlight.ts";
import { findCut, renderInline } from "./inline.ts";
import { readAligns, renderTable, splitCells, type Table } from "./table.ts";
import {
  joinWords,
  paintRow,
  splitWords,
  wrapWords,
  type Style,
  type Word,
  type WordRow,
} from "./wrap-words.ts";

export interface MarkdownOptions {
  readonly colours: Colours;
  /** Columns of a row, asked for each. */
  readonly width: () => number;
}

interface Text {
  readonly kind: "text";
  text: string;
  /** The last row of what was shown of it, which had room left; and whether a space is behind it. */
  carried: WordRow;
  isSpaced: boolean;
  hasBegun: boolean;
}

interface Code {
  readonly kind: "code";
  readonly fence: string;
  readonly indent: number;
  readonly language: string;
  state: CodeState | undefined;
}

interface OpenTable extends Table {
  readonly kind: "table";
  rows: (readonly string[])[];
  widths: readonly number[] | undefined;
}

export interface State {
  containers: Container[];
  leaf: Text | Code | OpenTable | undefined;
  /** Whether a blank line is before what comes, and whether that is within a quote. */
  blank: "none" | "plain" | "quoted";
  hasShown: boolean;
  /** The end of a line that is too long to be looked at whole is still to come. */
  isLineOpen: boolean;
}

/** Changes the state by the lines it is given. */
export function createBlockReader(state: State, { colours, width }: MarkdownOptions) {
  const isColoured = colours.bold("x") !== "x";
  const rows: string[] = [];
  return { rows, accept, end: () => begin(0) };

  /** `isLong`: only its beginning; the next is more of it. */
  function accept(given: string, isLong: boolean): void {
    const line = visible(given.replace(/\r$/, "")).replaceAll("\t", "    ");
    const isRest = state.isLineOpen;
    state.isLineOpen = isLong;
    const { leaf } = state;
    if (leaf?.kind === "code") return isRest ? showCode(line, leaf) : acceptCode(line, leaf);
    if (isRest) return addText(line, "");
    const matched = matchContainers(state.containers, line);
    if (matched.rest.trim() === "") return acceptBlank(matched.depth);
    const { depth, rest } = openContainers(matched.depth, matched.rest);
    if (isLong || !acceptBlock(depth, rest)) {
      if (state.leaf?.kind !== "text") begin(depth);
      addText(rest.trim(), "\n");
    }
  }

  function acceptBlank(depth: number): void {
    endLeaf();
    // A quote ends with its last mark, a list may continue.
    const left = state.containers.findIndex(({ kind }, at) => kind === "quote" && at >= depth);
    if (left >= 0) closeContainers(left);
    state.blank = state.containers[0]?.kind === "quote" ? "quoted" : "plain";
  }

  function acceptCode(line: string, leaf: Code): void {
    const { depth, rest } = matchContainers(state.containers, line);
    if (state.containers.some(({ kind }, at) => kind === "quote" && at >= depth)) {
      state.leaf = undefined;
      return accept(line, state.isLineOpen);
    }
    const mark = rest.trim();
    if (mark.length >= leaf.fence.length && mark === leaf.fence.charAt(0).repeat(mark.length)) {
      state.leaf = undefined;
    } else showCode(rest.slice(Math.min(leaf.indent, countSpaces(rest))), leaf);
  }

  /** Whether the line is anything but text. */
  function acceptBlock(depth: number, text: string): boolean {
    const line = text.trim();
    const { leaf } = state;
    const isInside = depth === state.containers.length;
    const [, fence, language = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      begin(depth);
      const indent = countSpaces(text);
      state.leaf = {
        kind: "code",
        fence,
        indent,
        language: language.toLowerCase(),
        state: undefined,
      };
      return true;
    }
    if (leaf?.kind === "table" && isInside) {
      const cells = splitCells(line);
      if (cells !== undefined) return addTableRow(leaf, cells);
    }
    if (leaf?.kind === "text" && isInside) {
      if (beginTable(leaf, line)) return true;
      if (UNDERLINE.test(line) && !leaf.text.includes("\n") && !leaf.hasBegun) {
        state.leaf = undefined;
        return showHeading(line.startsWith("=") ? 1 : 2, leaf.text);
      }
    }
    const [, marks, title = ""] = HEADING.exec(line) ?? [];
    if (marks !== undefined) {
      begin(depth);
      return showHeading(marks.length, title);
    }
    if (RULE.test(line)) {
      begin(depth);
      show((room) => [colours.dim("─".repeat(Math.min(WIDEST_RULE, room)))]);
      return true;
    }
    if (leaf === undefined && depth === 0 && text.startsWith("    ")) {
      begin(depth);
      showCode(text.slice(4), { language: "", state: undefined });
      return true;
    }
    return false;
  }

  function openContainers(matched: number, text: string): { depth: number; rest: string } {
    let depth = matched;
    let rest = text;
    while (rest.trim() !== "") {
      const quote = matchQuote(rest);
      const sibling = state.containers[depth];
      const found = RULE.test(rest.trim()) ? undefined : readItem(rest, sibling);
      // A year at the beginning of a line is no list.
      const isText =
        state.leaf?.kind === "text" && sibling === undefined && (found?.item.number ?? 1) !== 1;
      if (quote === undefined && (found === undefined || isText)) break;
      begin(depth);
      state.containers.push(quote === undefined && found ? found.item : { kind: "quote" });
      rest = quote === undefined ? (found?.rest ?? "") : rest.slice(quote);
      depth += 1;
    }
    return { depth, rest };
  }

  function showHeading(level: number, title: string): true {
    const styles: Style[] = level === 1 ? ["bold", "underline"] : ["bold"];
    const text = isColoured ? title : `${"#".repeat(level)} ${title}`;
    showWords(splitWords(renderInline(text, isColoured, styles)));
    return true;
  }

  function showCode(line: string, leaf: Pick<Code, "language" | "state">): void {
    const { spans, state: behind } = highlightLine(line, leaf.language, leaf.state);
    leaf.state = behind;
    showWords([joinWords(spans)], { indent: "  " });
  }

  function addText(text: string, separator: "\n" | ""): void {
    if (state.leaf?.kind !== "text") {
      state.leaf = { kind: "text", text: "", carried: [], isSpaced: false, hasBegun: false };
    } else state.leaf.text += separator;
    const { leaf } = state;
    leaf.text += text;
    while (leaf.text.length >= 2 * LONGEST_TEXT) {
      const cut = findCut(leaf.text.slice(0, 2 * LONGEST_TEXT), LONGEST_TEXT);
      const part = leaf.text.slice(0, cut);
      leaf.text = leaf.text.slice(cut);
      showText(leaf, part, part.endsWith("\n") ? "line" : "part");
      leaf.isSpaced = part.endsWith(" ");
    }
  }

  /** A part leaves its last row open. */
  function showText(leaf: Text, text: string, until: "end" | "line" | "part"): void {
    const [head, ...more] = splitWords(renderInline(text, isColoured));
    const space = leaf.isSpaced ? { text: " ", styles: [] } : undefined;
    const joined =
      head === undefined || head === "line_end" ? head : { ...head, space: head.space ?? space };
    const words = [...leaf.carried, ...(joined === undefined ? [] : [joined]), ...more];
    leaf.carried = [];
    const last = showWords(words, {
      hasBegun: leaf.hasBegun,
      // The end of a line makes an empty row of its own.
      leaves: until === "end" ? 0 : 1,
    });
    leaf.hasBegun ||= last.count > 0;
    if (until === "part") leaf.carried = last.left;
  }

  function beginTable(leaf: Text, line: string): boolean {
    const aligns = readAligns(line);
    const start = leaf.text.lastIndexOf("\n") + 1;
    const header = aligns && splitCells(leaf.text.slice(start));
    if (aligns === undefined || header?.length !== aligns.length) return false;
    leaf.text = leaf.text.slice(0, Math.max(0, start - 1));
    endLeaf();
    state.leaf = { kind: "table", header, aligns, rows: [], widths: undefined };
    return true;
  }

  function addTableRow(leaf: OpenTable, cells: readonly string[]): true {
    leaf.rows.push(cells);
    if (leaf.rows.length >= MOST_TABLE_ROWS) showTable(leaf);
    return true;
  }

  function showTable(leaf: OpenTable): void {
    show((room) => {
      const { lines, widths } = renderTable(leaf, room, colours);
      leaf.widths = widths;
      return lines;
    });
    leaf.rows = [];
  }

  /** A block begins: what was open before it is finished, and so is what it is not within. */
  function begin(depth: number): void {
    endLeaf();
    closeContainers(depth);
  }

  function endLeaf(): void {
    const { leaf } = state;
    state.leaf = undefined;
    if (leaf?.kind === "table" && (leaf.rows.length > 0 || leaf.widths === undefined)) {
      showTable(leaf);
    }
    if (leaf?.kind === "text" && leaf.text + leaf.carried.length !== "0") {
      showText(leaf, leaf.text, "end");
    }
  }

  function closeContainers(depth: number): void {
    const isEmpty = state.containers
      .slice(depth)
      .some((one) => one.kind === "item" && !one.isMarked);
    if (isEmpty) show(() => [""]);
    state.containers.length = Math.min(state.containers.length, depth);
  }

  function showWords(
    words: readonly Word[],
    { indent = "", hasBegun = false, leaves = 0 } = {},
  ): { readonly count: number; readonly left: WordRow } {
    let left: WordRow = [];
    let count = 0;
    show(
      (room) => {
        const wrapped = wrapWords(words, room);
        count = wrapped.length - leaves;
        left = wrapped[count] ?? [];
        return wrapped.slice(0, count).map((row) => paintRow(row, colours));
      },
      indent,
      hasBegun,
    );
    return { count, left };
  }

  /** Behind the marks of what it is within. */
  function show(render: (room: number) => readonly string[], indent = "", hasBegun = false): void {
    const { first, rest } = prefixes(indent);
    const lines = render(Math.max(1, width() - measureWidth(rest)));
    for (const [at, line] of lines.entries()) {
      if (state.blank !== "none" && state.hasShown) {
        rows.push(state.blank === "quoted" ? colours.dim("│") : "");
      }
      state.blank = "none";
      state.hasShown = true;
      for (const one of state.containers) if (one.kind === "item") one.isMarked = true;
      const prefix = at === 0 && !hasBegun ? first : rest;
      const shown = (line === "" ? prefix.trimEnd() : prefix).replaceAll("│", colours.dim("│"));
      rows.push(shown + line);
    }
  }

  /** Markers once, then the room they took. */
  function prefixes(indent: string): { first: string; rest: string } {
    let first = "";
    let rest = "";
    for (const container of state.containers) {
      const mark = container.kind === "quote" ? "│ " : `${container.marker} `;
      const room = container.kind === "quote" ? mark : " ".repeat(measureWidth(mark));
      first += container.kind === "item" && container.isMarked ? room : mark;
      rest += room;
    }
    const most = Math.max(0, width() - NARROWEST);
    if (measureWidth(rest + indent) > most) {
      // Too deep for the screen: the last marker tells most.
      first = most === 0 ? "" : first.slice(-most);
      rest = " ".repeat(measureWidth(first));
      return { first, rest };
    }
    return { first: first + indent, rest: rest + indent };
  }
}

export function createState(): State {
  return {
    containers: [],
    leaf: undefined,
    blank: "none",
    hasShown: false,
    isLineOpen: false,
  };
}

export function copyState(state: State): State {
  const { containers, leaf } = state;
  return {
    ...state,
    containers: containers.map((container) => ({ ...container })),
    leaf: leaf?.kind === "table" ? { ...leaf, rows: [...leaf.rows] } : leaf && { ...leaf },
  };
}

const FENCE = /^(`{3,}|~{3,})\s*([\w+#-]*)[^`]*$/;
const HEADING = /^(#{1,6})(?:\s+(.*?))?(?:\s+#+)?$/;
const UNDERLINE = /^(?:=+|-{2,})$/;
const RULE = /^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;

/** Characters of a paragraph that are looked at together. */
const LONGEST_TEXT = 1000;
/** So many decide how wide the columns are. */
const MOST_TABLE_ROWS = 200;
const WIDEST_RULE = 80;
/** Columns that are left for the text, however deep it is. */
const NARROWEST = 12;
