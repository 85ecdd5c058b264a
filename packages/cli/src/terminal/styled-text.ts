// Text with colours in it, taken apart into rows of a screen. Every row has its colours to itself: what it
// begins it ends, so that rows can be drawn in any order.

import { visible, splitGraphemes, graphemeWidth } from "../output/index.ts";

export interface Row {
  readonly text: string;
  /** In columns. */
  readonly width: number;
}

/** One line, in rows of at most this many columns; at least one row. */
export function layOutRows(line: string, width: number): Row[] {
  const rows: Row[] = [];
  const style = createStyle();
  let row = "";
  let taken = 0;
  for (const piece of splitStyled(line)) {
    if (piece.kind === "style") {
      style.add(piece.text);
      row += piece.text;
      continue;
    }
    for (const { text, width: columns } of cellsOf(piece.text, () => taken)) {
      if (taken > 0 && taken + columns > width) {
        rows.push({ text: row + style.end(), width: taken });
        row = style.begin();
        taken = 0;
      }
      row += text;
      taken += columns;
    }
  }
  rows.push({ text: row + style.end(), width: taken });
  return rows;
}

/** One line, cut with an ellipsis where it is wider. */
export function cutToWidth(line: string, width: number): Row {
  const whole = layOutRows(line, width);
  const [first] = whole;
  if (first === undefined || whole.length === 1) return first ?? { text: "", width: 0 };
  const [shorter = { text: "", width: 0 }] = layOutRows(line, Math.max(1, width - 1));
  return width < 2
    ? { text: "…", width: 1 }
    : { text: `${shorter.text}…`, width: shorter.width + 1 };
}

/** The colours that are still on behind this text, given those before it; as one sequence, or none. */
export function styleBehind(text: string, before: string): string {
  const style = createStyle();
  style.add(before);
  for (const piece of splitStyled(text)) if (piece.kind === "style") style.add(piece.text);
  return style.begin();
}

/** Nothing but text, line breaks, tabs and colours: anything else a terminal would obey or hide is written out. */
export function onlyColours(text: string): string {
  return text
    .split(SPLIT_AT_COLOURS)
    .map((piece) => (COLOUR.test(piece) ? piece : visible(piece)))
    .join("");
}

export const STYLE_OFF = "\u001b[0m";

type Piece = { readonly kind: "style" | "text"; readonly text: string };

function splitStyled(line: string): Piece[] {
  return line
    .split(SPLIT_AT_COLOURS)
    .filter((text) => text !== "")
    .map((text) => ({ kind: COLOUR.test(text) ? "style" : "text", text }));
}

function* cellsOf(text: string, column: () => number): Generator<Row> {
  for (const grapheme of splitGraphemes(text)) {
    if (grapheme !== "\t") yield { text: grapheme, width: graphemeWidth(grapheme) };
    else for (let left = TAB - (column() % TAB); left > 0; left -= 1) yield { text: " ", width: 1 };
  }
}

/** Which colours are on: at most one of each group. */
function createStyle(): {
  add(sequences: string): void;
  begin(): string;
  end(): string;
} {
  const on = new Map<string, string>();
  return {
    add(sequences) {
      for (const [, codes = ""] of sequences.matchAll(COLOURS)) {
        // Colours of 256 or more are one thing of several numbers.
        for (const code of codes.match(/[34]8[;:]5[;:]\d+|[34]8[;:]2(?:[;:]\d+){3}|\d+/g) ?? [
          "0",
        ]) {
          const number = Number.parseInt(code, 10);
          const group = GROUPS.find(({ codes }) => codes.test(String(number)));
          if (number === 0) on.clear();
          else if (group?.off === number) on.delete(group.name);
          else if (group !== undefined) {
            // Bold and faint go together and end together.
            const both = group.name === "weight" ? on.get("weight") : undefined;
            on.set(group.name, both === undefined || both === code ? code : `${both};${code}`);
          }
        }
      }
    },
    begin: () => (on.size === 0 ? "" : `\u001b[${[...on.values()].join(";")}m`),
    end: () => (on.size === 0 ? "" : STYLE_OFF),
  };
}

/** What a code is about, by the code that ends it. */
const GROUPS: readonly { readonly name: string; readonly off: number; readonly codes: RegExp }[] = [
  { name: "weight", off: 22, codes: /^(?:1|2|22)$/ },
  { name: "italic", off: 23, codes: /^2?3$/ },
  { name: "underline", off: 24, codes: /^(?:4|21|24)$/ },
  { name: "inverse", off: 27, codes: /^2?7$/ },
  { name: "struck", off: 29, codes: /^2?9$/ },
  { name: "text", off: 39, codes: /^(?:3\d|9[0-7])$/ },
  { name: "ground", off: 49, codes: /^(?:4\d|10[0-7])$/ },
];

const TAB = 8;
/* oxlint-disable no-control-regex -- what a terminal obeys is what this is about */
const COLOURS = /\u001b\[([\d;:]*)m/g;
const COLOUR = /^\u001b\[[\d;:]*m$/;
const SPLIT_AT_COLOURS = /(\u001b\[[\d;:]*m)/;
/* oxlint-enable no-control-regex */
