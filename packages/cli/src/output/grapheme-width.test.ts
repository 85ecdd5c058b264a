import { describe, expect, it } from "vitest";
import { splitGraphemes, measureWidth } from "./grapheme-width.ts";

describe("the width of text on a terminal", () => {
  it.each([
    ["", 0],
    ["plain ~", 7],
    ["é", 1],
    ["e\u0301", 1],
    ["日本語", 6],
    ["한국어", 6],
    ["\u1112\u1161\u11ab", 2],
    ["ｆｕｌｌ", 8],
    ["ｶﾅ", 2],
    ["「」、。", 8],
    ["👍", 2],
    ["👍🏽", 2],
    ["👨‍👩‍👧‍👦", 2],
    ["🇫🇷", 2],
    ["❤\ufe0f", 2],
    ["❤", 1],
    ["1\ufe0f\u20e3", 2],
    ["✓ … │ ─", 7],
    ["ไทย", 3],
    ["กำ", 2],
    ["שלום", 4],
    ["\u200b\u200d\ufeff", 0],
    ["a\tb\n", 2],
    ["𠮷", 2],
  ])("of %j is %d", (text, width) => {
    expect(measureWidth(text)).toBe(width);
  });

  it("takes text apart where a reader would", () => {
    expect(splitGraphemes("e\u0301👨‍👩‍👧🇫🇷a")).toEqual(["e\u0301", "👨‍👩‍👧", "🇫🇷", "a"]);
    expect(splitGraphemes("ab\n")).toEqual(["a", "b", "\n"]);
    // A long one is taken apart in pieces.
    const words = ["w", "o", "e\u0301", "👨‍👩‍👧", " "];
    const many = Array.from({ length: 500 }, () => words).flat();
    expect(splitGraphemes(many.join(""))).toEqual(many);
    expect(splitGraphemes("😀".repeat(2001))).toHaveLength(2001);
  });
});
