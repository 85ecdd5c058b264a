import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measureWidth } from "../output/grapheme-width.ts";
import { cutToWidth, layOutRows, styleBehind } from "./styled-text.ts";

const [RED, DIM, BOLD, PLAIN] = ["\u001b[31m", "\u001b[2m", "\u001b[1m", "\u001b[39m"] as const;

describe("text with colours in rows", () => {
  it("is as wide as the row at most; a wide character is not cut in two", () => {
    expect(layOutRows("abcdefg", 3).map(({ text }) => text)).toEqual(["abc", "def", "g"]);
    expect(layOutRows("a日本", 4)).toEqual([
      { text: "a日", width: 3 },
      { text: "本", width: 2 },
    ]);
    expect(layOutRows("日本", 1).map(({ text }) => text)).toEqual(["日", "本"]);
    expect(layOutRows("", 5)).toEqual([{ text: "", width: 0 }]);
    expect(layOutRows("a\tb", 20)).toEqual([{ text: "a       b", width: 9 }]);
  });

  it("has the colours of the whole in each row, and none behind it", () => {
    expect(layOutRows(`a${RED}bcd${PLAIN}e`, 3)).toEqual([
      { text: `a${RED}bc\u001b[0m`, width: 3 },
      { text: `${RED}d${PLAIN}e`, width: 2 },
    ]);
  });

  it("is cut with an ellipsis where it is too wide", () => {
    expect(cutToWidth("abcd", 4).text).toBe("abcd");
    expect(cutToWidth("abcde", 4)).toEqual({ text: "abc…", width: 4 });
    expect(cutToWidth(`${RED}日本語${PLAIN}`, 4)).toEqual({ text: `${RED}日\u001b[0m…`, width: 3 });
    expect(cutToWidth("abc", 1)).toEqual({ text: "…", width: 1 });
  });

  it.each([
    [`${RED}x`, "", "\u001b[31m"],
    [`${RED}x${PLAIN}`, "", ""],
    [`${BOLD}${DIM}x`, "", "\u001b[1;2m"],
    [`x\u001b[22m`, `${BOLD}${DIM}`, ""],
    [`\u001b[mx`, RED, ""],
    [`\u001b[0;31m`, DIM, "\u001b[31m"],
    [`\u001b[38;5;31m`, "", "\u001b[38;5;31m"],
    [`\u001b[38;2;1;2;3m\u001b[4m`, "", "\u001b[38;2;1;2;3;4m"],
    [`\u001b[39m`, "\u001b[38;5;31;41m", "\u001b[41m"],
    [`\u001b[91m`, RED, "\u001b[91m"],
  ])("%j behind %j leaves %j", (text, before, behind) => {
    expect(styleBehind(text, before)).toBe(behind);
  });

  it("loses nothing in rows of any width", () => {
    const part = fc.constantFrom("a", "日", "e\u0301", "👍🏽", " ", RED, PLAIN, DIM, "\u001b[0m");
    fc.assert(
      fc.property(fc.array(part), fc.integer({ min: 2, max: 12 }), (parts, width) => {
        const text = parts.join("");
        const rows = layOutRows(text, width);
        // oxlint-disable-next-line no-control-regex -- colours are not seen
        const seen = (all: string): string => all.replaceAll(/\u001b\[[\d;]*m/g, "");
        expect(seen(rows.map((row) => row.text).join(""))).toBe(seen(text));
        for (const row of rows) {
          expect(row.width).toBe(measureWidth(seen(row.text)));
          expect(row.width).toBeLessThanOrEqual(width);
          expect(styleBehind(row.text, "")).toBe("");
        }
      }),
    );
  });
});
