import fc from "fast-check";
import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../../../test/any-character.ts";
import { exactLine, exactText, visible, visibleJson, visibleLine } from "./visible.ts";

describe("text from outside", () => {
  it("is written out where a terminal would obey it", () => {
    verifies("CLI-6", "PERM-19");
    const evil = "a\u001b[2J\u0000\u007f\u0085\u202e\u200b\ufeff\ud800é😀\r\nb\rc\td";
    const shown = "a\\u001b[2J\\u0000\\u007f\\u0085\\u202e\\u200b\\ufeff\\ud800é😀";
    expect(visible(evil)).toBe(`${shown}\nb\\rc\td`);
    expect(visibleLine(evil)).toBe(`${shown}\\r\\nb\\rc\\td`);
  });

  it.each([
    ["a tag", "\u{E0041}", "\\u{E0041}"],
    ["a soft hyphen", "\u00AD", "\\u00ad"],
    ["a Hangul filler", "\u115F", "\\u115f"],
    ["a Hangul filler", "\u1160", "\\u1160"],
    ["a Hangul filler", "\u3164", "\\u3164"],
    ["a Hangul filler", "\uFFA0", "\\uffa0"],
    ["a Mongolian vowel separator", "\u180E", "\\u180e"],
    ["a deprecated format character", "\u206A", "\\u206a"],
    ["an interlinear annotation", "\uFFF9", "\\ufff9"],
    ["a combining grapheme joiner", "\u034F", "\\u034f"],
    ["a Braille blank", "\u2800", "\\u2800"],
    ["a variation selector", "\uFE01", "\\ufe01"],
    ["a variation selector of the supplement", "\u{E0100}", "\\u{E0100}"],
    ["private use", "\uE000", "\\ue000"],
    ["private use in the supplement", "\u{F0000}", "\\u{F0000}"],
    ["an unassigned character", "\u0378", "\\u0378"],
    ["a noncharacter", "\uFFFF", "\\uffff"],
    ["a musical format character", "\u{1D173}", "\\u{1D173}"],
    ["a line separator", "\u2028", "\\u2028"],
  ])("shows %s (%j)", (_, hidden, shown) => {
    verifies("PERM-19");
    for (const show of [visible, visibleLine, exactText, exactLine]) {
      expect(show(`a${hidden}b`)).toBe(`a${shown}b`);
    }
    expect(JSON.parse(visibleJson(hidden))).toBe(hidden);
    expect(visibleJson(hidden)).toMatch(/^[\u0020-\u007e]+$/);
  });

  it("leaves what can be read as it is", () => {
    verifies("PERM-19");
    for (const text of ["Ünïcode 漢字\u3000العربية", "👩🏽‍💻 👩‍👧 🏳️‍🌈 1️⃣", "10\u00a0km", "plain"]) {
      expect(visible(text)).toBe(text);
    }
    // The same joiner between letters joins nothing that is seen.
    expect(visible("a\u200db\ufe0f")).toBe("a\\u200db\\ufe0f");
  });

  it("excepts nothing in what the user approves", () => {
    verifies("PERM-19");
    const text = "👩\u200d💻\ufe0f a\u00a0b\u3000c\nd\te";
    expect(exactText(text)).toBe("👩\\u200d💻\\ufe0f a\\u00a0b\\u3000c\nd\te");
    expect(exactLine(text)).toBe("👩\\u200d💻\\ufe0f a\\u00a0b\\u3000c\\nd\\te");
  });

  it("hides nothing, no matter what it is", () => {
    verifies("PERM-19");
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const shown = exactLine(text);
        expect(shown).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u);
        const json = visibleJson({ text });
        expect(json).not.toMatch(/(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});
