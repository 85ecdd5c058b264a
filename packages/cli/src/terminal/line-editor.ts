// A text of one line or several while it is typed, as a value: every key makes a new one. The cursor always
// is between two characters as a reader sees them.

import { borderNear, splitGraphemes, measureWidth } from "../output/index.ts";
import type { Key } from "./key-decoder.ts";

export interface LineEditor {
  readonly text: string;
  /** In code units, at the border of a grapheme. */
  readonly cursor: number;
  /** What was typed before, oldest first, and last what is new; each as it was changed here. */
  readonly entries: readonly string[];
  /** Which of them is shown. */
  readonly at: number;
  /** What was cut last. */
  readonly cut: string;
  /** The column that going up and down keeps to. */
  readonly column: number | undefined;
}

export type EditorStep =
  | { readonly kind: "editing"; readonly editor: LineEditor }
  | { readonly kind: "sent" }
  /** Ctrl-D where there is nothing. */
  | { readonly kind: "end" };

export function createLineEditor(history: readonly string[] = [], initial = ""): LineEditor {
  const text = typeable(initial);
  return {
    text,
    cursor: text.length,
    entries: [...history.map(typeable), text],
    at: history.length,
    cut: "",
    column: undefined,
  };
}

export function pressKey(editor: LineEditor, key: Key): EditorStep {
  const { text, cursor } = editor;
  if (key.kind === "end_of_input" && text === "") return { kind: "end" };
  if (key.kind === "enter" && text.charAt(cursor - 1) !== "\\") return { kind: "sent" };
  if (key.kind === "text" || key.kind === "paste") {
    return { kind: "editing", editor: insertText(editor, key.text) };
  }
  // The others are not about the text: the reader of the keys sees to them.
  const edit: ((before: LineEditor) => LineEditor) | undefined =
    EDITS[key.kind as keyof typeof EDITS];
  return { kind: "editing", editor: edit === undefined ? editor : edit(editor) };
}

const EDITS = {
  enter: (editor: LineEditor) => replaceRange(editor, editor.cursor - 1, editor.cursor, "\n"),
  newline: (editor: LineEditor) => insertText(editor, "\n"),
  put_back: (editor: LineEditor) => insertText(editor, editor.cut),
  backspace: (editor: LineEditor) => replaceRange(editor, moveLeft(editor), editor.cursor, ""),
  delete: deleteNext,
  end_of_input: deleteNext,
  left: (editor: LineEditor) => movedTo(editor, moveLeft(editor)),
  right: (editor: LineEditor) => movedTo(editor, moveRight(editor)),
  word_left: (editor: LineEditor) => movedTo(editor, moveWordLeft(editor)),
  word_right: (editor: LineEditor) => movedTo(editor, moveWordRight(editor)),
  line_start: (editor: LineEditor) => movedTo(editor, lineStart(editor.text, editor.cursor)),
  line_end: (editor: LineEditor) => movedTo(editor, lineEnd(editor.text, editor.cursor)),
  cut_to_line_start: (editor: LineEditor) => cutTo(editor, lineStart(editor.text, editor.cursor)),
  cut_to_line_end: (editor: LineEditor) => cutTo(editor, lineEnd(editor.text, editor.cursor)),
  cut_word_left: (editor: LineEditor) => cutTo(editor, moveWordLeft(editor)),
  cut_word_right: (editor: LineEditor) => cutTo(editor, moveWordRight(editor)),
  up,
  down,
};

function deleteNext(editor: LineEditor): LineEditor {
  return replaceRange(editor, editor.cursor, moveRight(editor), "");
}

export function insertText(editor: LineEditor, text: string): LineEditor {
  return replaceRange(editor, editor.cursor, editor.cursor, typeable(text));
}

/** What Tab completes: the letters without a blank before the cursor, and the line up to there. */
export function wordAtCursor({ text, cursor }: LineEditor): { word: string; line: string } {
  const line = text.slice(lineStart(text, cursor), cursor);
  return { word: /\S*$/.exec(line)?.[0] ?? "", line };
}

/** Another word in place of the one at the cursor. */
export function replaceWord(editor: LineEditor, word: string): LineEditor {
  const { word: old } = wordAtCursor(editor);
  return replaceRange(editor, editor.cursor - old.length, editor.cursor, typeable(word));
}

function replaceRange(editor: LineEditor, from: number, to: number, by: string): LineEditor {
  const text = editor.text.slice(0, from) + by + editor.text.slice(to);
  const entries = editor.entries.map((entry, at) => (at === editor.at ? text : entry));
  // What was put in may have joined what is beside it.
  const cursor = borderFrom(text, from + by.length);
  return { ...editor, text, cursor, entries, column: undefined };
}

/** Cuts what is between the cursor and a place. */
function cutTo(editor: LineEditor, place: number): LineEditor {
  const { cursor, text } = editor;
  const [from, to] = place < cursor ? [place, cursor] : [cursor, place];
  if (from === to) return editor;
  return { ...replaceRange(editor, from, to, ""), cut: text.slice(from, to) };
}

function movedTo(editor: LineEditor, cursor: number): LineEditor {
  return { ...editor, cursor, column: undefined };
}

function up(editor: LineEditor): LineEditor {
  const start = lineStart(editor.text, editor.cursor);
  return start === 0 ? entryAt(editor, editor.at - 1) : inLineAt(editor, start - 1);
}

function down(editor: LineEditor): LineEditor {
  const end = lineEnd(editor.text, editor.cursor);
  return end === editor.text.length ? entryAt(editor, editor.at + 1) : inLineAt(editor, end + 1);
}

function entryAt(editor: LineEditor, at: number): LineEditor {
  const text = editor.entries[at];
  if (text === undefined) return editor;
  return { ...editor, at, text, cursor: text.length, column: undefined };
}

/** In the line around a place, as far right as the cursor is in its own. */
function inLineAt(editor: LineEditor, place: number): LineEditor {
  const { text } = editor;
  const column =
    editor.column ?? measureWidth(text.slice(lineStart(text, editor.cursor), editor.cursor));
  let cursor = lineStart(text, place);
  let width = 0;
  for (const grapheme of splitGraphemes(text.slice(cursor, lineEnd(text, place)))) {
    width += measureWidth(grapheme);
    if (width > column) break;
    cursor += grapheme.length;
  }
  return { ...editor, cursor, column };
}

function moveLeft({ text, cursor }: LineEditor): number {
  const start = shortlyBefore(text, cursor);
  if (start === cursor) return Math.max(0, cursor - 1);
  return cursor - (splitGraphemes(text.slice(start, cursor)).at(-1)?.length ?? 0);
}

function moveRight({ text, cursor }: LineEditor): number {
  const end = shortlyBehind(text, cursor);
  if (end === cursor) return Math.min(text.length, cursor + 1);
  return cursor + (splitGraphemes(text.slice(cursor, end))[0]?.length ?? 0);
}

/** Over blanks, and then over what is of one kind: a word, or signs. */
function moveWordLeft({ text, cursor }: LineEditor): number {
  return (
    cursor -
    wordLength(splitGraphemes(text.slice(Math.max(0, cursor - LONGEST_WORD), cursor)).toReversed())
  );
}

function moveWordRight({ text, cursor }: LineEditor): number {
  return cursor + wordLength(splitGraphemes(text.slice(cursor, cursor + LONGEST_WORD)));
}

function wordLength(graphemes: readonly string[]): number {
  let length = 0;
  let kind: "blank" | "word" | "sign" = "blank";
  for (const grapheme of graphemes) {
    const next = /^\s/.test(grapheme)
      ? "blank"
      : /^[\p{L}\p{N}_]/u.test(grapheme)
        ? "word"
        : "sign";
    if (kind !== "blank" && next !== kind) break;
    kind = next;
    length += grapheme.length;
  }
  return length;
}

/** This place, or the next one between two graphemes. */
function borderFrom(text: string, place: number): number {
  const start = shortlyBefore(text, place);
  let border = start;
  for (const grapheme of splitGraphemes(text.slice(start, shortlyBehind(text, place)))) {
    if (border >= place) break;
    border += grapheme.length;
  }
  return border;
}

/** The start of the line or, in a long one, a border from which a place can be found at once. */
function shortlyBefore(text: string, place: number): number {
  const start = lineStart(text, place);
  return place - start <= FAR ? start : borderNear(text, place - FAR);
}

function shortlyBehind(text: string, place: number): number {
  return Math.min(lineEnd(text, place), place + FAR);
}

function lineStart(text: string, place: number): number {
  return place === 0 ? 0 : text.lastIndexOf("\n", place - 1) + 1;
}

function lineEnd(text: string, place: number): number {
  const end = text.indexOf("\n", place);
  return end < 0 ? text.length : end;
}

/** In code units: no character is as long. */
const FAR = 1024;
const LONGEST_WORD = 65_536;

/** Without what no one can type or see: control characters other than line breaks and tabs. */
function typeable(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(CONTROL, "");
}

// oxlint-disable-next-line no-control-regex -- they are what goes
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
