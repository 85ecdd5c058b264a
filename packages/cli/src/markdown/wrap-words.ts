// Styled text in rows: words are kept whole where a row has room for them, Chinese and Japanese break between
// characters, and anything wider than a row is cut.

import { type Colours, graphemeWidth, measureWidth, splitGraphemes } from "../output/index.ts";

export type Style = keyof Colours;

export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

/** What is not broken unless it is wider than a row; or the end of a line. */
export type Word = WordInRow | "line_end";

interface WordInRow {
  readonly spans: readonly Span[];
  readonly width: number;
  /** Before it, unless it begins a row. */
  readonly space: Span | undefined;
}

/** A line break in the text ends a row. */
export function splitWords(spans: readonly Span[]): Word[] {
  const words: Word[] = [];
  let open: { spans: Span[]; width: number; space: Span | undefined } | undefined;
  let space: Span | undefined;
  let wasBreakable = false;
  for (const { text, styles } of spans) {
    for (const [part] of text.matchAll(PARTS)) {
      if (part === "\n") {
        end();
        words.push("line_end");
        space = undefined;
      } else if (part.trim() === "" && /^[ \t]/.test(part)) {
        end();
        space = { text: part.replaceAll("\t", "    "), styles };
      } else {
        const isBreakable = IDEOGRAPH.test(part);
        if (isBreakable || wasBreakable) end();
        open ??= { spans: [], width: 0, space };
        space = undefined;
        open.spans.push({ text: part, styles });
        open.width += measureWidth(part);
        wasBreakable = isBreakable;
      }
    }
  }
  end();
  return words;

  function end(): void {
    if (open !== undefined) words.push(open);
    open = undefined;
    wasBreakable = false;
  }
}

export type WordRow = readonly WordInRow[];

/** One word of all, however many spaces are in it. */
export function joinWords(spans: readonly Span[]): Word {
  const width = spans.reduce((sum, { text }) => sum + measureWidth(text), 0);
  return { spans, width, space: undefined };
}

/** At least one row. */
export function wrapWords(words: readonly Word[], width: number): WordRow[] {
  const rows: WordInRow[][] = [];
  let row: WordInRow[] = [];
  let taken = 0;
  for (const word of words) {
    if (word === "line_end") {
      endRow();
      continue;
    }
    const gap = row.length === 0 ? 0 : (word.space?.text.length ?? 0);
    if (row.length > 0 && taken + gap + word.width > width) endRow();
    if (word.width <= width) add(word);
    else {
      for (const part of cutWord(word, width)) {
        if (row.length > 0) endRow();
        add(part);
      }
    }
  }
  endRow();
  return rows;

  function add(word: WordInRow): void {
    taken += word.width + (row.length === 0 ? 0 : (word.space?.text.length ?? 0));
    row.push(word);
  }

  function endRow(): void {
    rows.push(row);
    row = [];
    taken = 0;
  }
}

function cutWord({ spans }: WordInRow, most: number): WordInRow[] {
  const parts: WordInRow[] = [];
  let part: Span[] = [];
  let width = 0;
  for (const { text, styles } of spans) {
    let taken = "";
    for (const grapheme of splitGraphemes(text)) {
      const columns = graphemeWidth(grapheme);
      if (width > 0 && width + columns > most) {
        parts.push({ spans: [...part, { text: taken, styles }], width, space: undefined });
        part = [];
        taken = "";
        width = 0;
      }
      taken += grapheme;
      width += columns;
    }
    part.push({ text: taken, styles });
  }
  parts.push({ spans: part, width, space: undefined });
  return parts;
}

export function measureRow(row: WordRow): number {
  return row.reduce(
    (width, word, at) => width + word.width + (at === 0 ? 0 : (word.space?.text.length ?? 0)),
    0,
  );
}

export function paintRow(row: WordRow, colours: Colours): string {
  const spans = row.flatMap(({ spans, space }, at) =>
    at === 0 || space === undefined ? spans : [space, ...spans],
  );
  return paintSpans(spans, colours);
}

/** Neighbours of one style are painted together. */
export function paintSpans(spans: readonly Span[], colours: Colours): string {
  let painted = "";
  let text = "";
  let styles: readonly Style[] = [];
  for (const span of spans) {
    if (span.styles.join() !== styles.join()) {
      painted += paint(text, styles, colours);
      text = "";
      ({ styles } = span);
    }
    text += span.text;
  }
  return painted + paint(text, styles, colours);
}

function paint(text: string, styles: readonly Style[], colours: Colours): string {
  return styles.reduce((painted, style) => colours[style](painted), text);
}

/* A row does not begin with what closes, and does not end with what opens. */
const IDEOGRAPHS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc`;
const OPENS = "（「『《【〈〔［｛“‘";
const CLOSES = "，。、．！？；：）」』》】〉〕］｝”’…—～ー々";
const IDEOGRAPH = new RegExp(`[${IDEOGRAPHS}]`, "u");
const PARTS = new RegExp(
  String.raw`\n|[ \t]+|[${OPENS}]*[${IDEOGRAPHS}]\p{M}*[${CLOSES},.!?;:)\]]*|[^ \t\n${IDEOGRAPHS}]+`,
  "gu",
);
