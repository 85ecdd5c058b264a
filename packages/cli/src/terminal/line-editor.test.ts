import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitGraphemes } from "../output/grapheme-width.ts";
import { createKeyDecoder, type Key } from "./key-decoder.ts";
import {
  createLineEditor,
  pressKey,
  replaceWord,
  wordAtCursor,
  type LineEditor,
} from "./line-editor.ts";

/** What is typed, with `|` for the cursor. */
function after(editor: LineEditor, typed: string): LineEditor {
  const decoder = createKeyDecoder();
  return [...decoder.push(Buffer.from(typed)), ...decoder.giveUp()].reduce(press, editor);
}

function press(editor: LineEditor, key: Key): LineEditor {
  const step = pressKey(editor, key);
  return step.kind === "editing" ? step.editor : editor;
}

function shown({ text, cursor }: LineEditor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

function typed(keys: string, history: readonly string[] = []): string {
  return shown(after(createLineEditor(history), keys));
}

const [UP, DOWN, RIGHT, LEFT] = ["\u001b[A", "\u001b[B", "\u001b[C", "\u001b[D"] as const;
const [HOME, END, WORD_LEFT, WORD_RIGHT] = ["\u0001", "\u0005", "\u001bb", "\u001bf"] as const;
const [DELETE, BACK] = ["\u001b[3~", "\u007f"] as const;

const MOVES = new Set<string>([UP, DOWN, LEFT, RIGHT, HOME, END, WORD_LEFT, WORD_RIGHT]);

describe("a line that is typed", () => {
  it.each([
    ["text goes in at the cursor", `ac${LEFT}b`, "ab|c"],
    ["backspace takes what is left of the cursor", `abc${LEFT}${BACK}`, "a|c"],
    ["delete takes what is right of it", `abc${LEFT}${LEFT}${DELETE}`, "a|c"],
    ["nothing is left of the beginning", `a${HOME}${BACK}${LEFT}`, "|a"],
    ["nothing is right of the end", `a${DELETE}${RIGHT}`, "a|"],
    ["Ctrl-D deletes where there is text", `ab${HOME}\u0004`, "|b"],
    ["a family is one character", `a👨‍👩‍👧b${LEFT}${LEFT}`, "a|👨‍👩‍👧b"],
    ["and goes as one", `a👨‍👩‍👧${BACK}`, "a|"],
    ["a letter with its mark is one", `e\u0301x${LEFT}${LEFT}`, "|e\u0301x"],
    ["a mark joins the letter before it", `ex${LEFT}\u0301`, "e\u0301|x"],
    ["flags go in pairs", `🇫🇷🇩🇪${BACK}`, "🇫🇷|"],
    [
      "words are jumped over",
      `one two.three${WORD_LEFT}${WORD_LEFT}${WORD_LEFT}`,
      "one |two.three",
    ],
    ["forwards as well", `one two${HOME}${WORD_RIGHT}${WORD_RIGHT}`, "one two|"],
    ["blanks go with the word before", `one  two  ${WORD_LEFT}`, "one  |two  "],
    ["Ctrl-W cuts a word", "one two\u0017x", "one x|"],
    ["Alt-D cuts one forwards", `one two${HOME}\u001bd`, "| two"],
    ["Ctrl-U cuts to the beginning", `one two${WORD_LEFT}\u0015`, "|two"],
    ["Ctrl-K cuts to the end", `one two${WORD_LEFT}\u000b`, "one |"],
    ["Ctrl-Y puts back what was cut", `one two\u0017${HOME}\u0019`, "two|one "],
    ["cutting nothing forgets nothing", `one\u0017\u0017\u0019`, "one|"],
    ["Ctrl-J begins a line", "one\ntwo", "one\ntwo|"],
    ["Alt-Enter as well", "one\u001b\rtwo", "one\ntwo|"],
    ["and a backslash with Enter", "one\\\rtwo", "one\ntwo|"],
    ["Home and End stay in the line", `one\ntwo${HOME}x${END}y`, "one\nxtwoy|"],
    ["Ctrl-U as well", "one\ntwo\u0015", "one\n|"],
    ["Ctrl-K as well", `one\ntwo${UP}${HOME}\u000b`, "|\ntwo"],
    ["a line break goes as any character", `one\ntwo${HOME}${BACK}`, "one|two"],
    ["and is stepped over", `one\ntwo${HOME}${LEFT}${RIGHT}${RIGHT}`, "one\nt|wo"],
    ["up keeps the column", `one\ntwo${LEFT}${UP}`, "on|e\ntwo"],
    ["also over a shorter line", `abcd\nx\nabcd${UP}${UP}`, "abcd|\nx\nabcd"],
    ["until the cursor moves", `abcd\nx\nabcd${UP}${LEFT}${UP}`, "|abcd\nx\nabcd"],
    ["and counts columns, not characters", `日本\nabc${UP}`, "日|本\nabc"],
    ["down comes back", `one\ntwo${LEFT}${UP}${DOWN}`, "one\ntw|o"],
    ["a paste is text", "\u001b[200~one\rtwo\tx\u0003\u001b[201~", "one\ntwo\tx|"],
  ])("%s", (_, keys, expected) => {
    expect(typed(keys)).toBe(expected);
  });

  it("goes through what was typed before, and comes back to what is new", () => {
    const history = ["first", "second\nline"];
    expect(typed(`new${UP}`, history)).toBe("second\nline|");
    expect(typed(`new${UP}${UP}${UP}`, history)).toBe("first|");
    expect(typed(`new${UP}${UP}${UP}${UP}${DOWN}`, history)).toBe("second\nline|");
    expect(typed(`new${UP}${DOWN}`, history)).toBe("new|");
    expect(typed(`new${DOWN}`, history)).toBe("new|");
    // What was changed on the way is still so when it is passed again.
    expect(typed(`new${UP}!${DOWN}${UP}`, history)).toBe("second\nline!|");
    expect(history).toEqual(["first", "second\nline"]);
  });

  it("is sent with Enter, and ended with Ctrl-D where there is nothing", () => {
    const editor = createLineEditor([], "text");
    expect(shown(editor)).toBe("text|");
    expect(pressKey(editor, { kind: "enter" })).toEqual({ kind: "sent" });
    expect(pressKey(after(editor, "\\ "), { kind: "enter" })).toEqual({ kind: "sent" });
    expect(pressKey(createLineEditor(), { kind: "end_of_input" })).toEqual({ kind: "end" });
  });

  it("says which word Tab is about, and takes another in its place", () => {
    const editor = after(
      createLineEditor(),
      `look at\nsee @src/ma now${LEFT}${LEFT}${LEFT}${LEFT}`,
    );
    expect(wordAtCursor(editor)).toEqual({ word: "@src/ma", line: "see @src/ma" });
    expect(shown(replaceWord(editor, "@src/main.ts"))).toBe("look at\nsee @src/main.ts| now");
    expect(wordAtCursor(after(createLineEditor(), "a "))).toEqual({ word: "", line: "a " });
  });

  it("has its cursor between two characters, and loses nothing for any key", () => {
    const part = fc.constantFrom(
      "a",
      " ",
      "é",
      "e\u0301",
      "日",
      "👨‍👩‍👧",
      "\u200d",
      "👩",
      "🇫",
      "\u0301",
      "\u1100",
      "\u1161",
      "\n",
      "\\\r",
      UP,
      DOWN,
      LEFT,
      RIGHT,
      HOME,
      END,
      WORD_LEFT,
      WORD_RIGHT,
      DELETE,
      BACK,
      "\u0017",
      "\u0015",
      "\u000b",
      "\u0019",
      "\u001bd",
      "\u001b[200~x\r\ny\u001b[201~",
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.string({ unit: "grapheme" })), (parts, history) => {
        let editor = createLineEditor(history);
        for (const next of parts) {
          const before = editor;
          editor = after(editor, next);
          const { text, cursor, entries, at } = editor;
          expect(text).toBe(entries[at]);
          const borders = [0];
          for (const grapheme of splitGraphemes(text))
            borders.push(borders.at(-1)! + grapheme.length);
          expect(borders).toContain(cursor);
          if (MOVES.has(next)) {
            expect(entries).toEqual(before.entries);
          } else if (/^[a\u0020日]$/u.test(next)) {
            const { text: old, cursor: place } = before;
            expect(text).toBe(old.slice(0, place) + next + old.slice(place));
          }
        }
      }),
    );
  });

  it("goes left and right over the same places", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const editor = createLineEditor([], text);
        const count = splitGraphemes(editor.text).length;
        const start = after(editor, LEFT.repeat(count));
        expect(start.cursor).toBe(0);
        expect(after(start, RIGHT.repeat(count)).cursor).toBe(editor.text.length);
        expect(after(editor, BACK.repeat(count + 1)).text.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
