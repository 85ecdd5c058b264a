import { describe, expect, it } from "vitest";
import { layOutInput, sentLines } from "./input-layout.ts";

function shown(text: string, cursor: number, width: number, height: number, prompt = "> ") {
  const { rows, cursorRow, beforeCursor } = layOutInput({ prompt, text, cursor }, width, height);
  return { rows: rows.map((row) => row.text), at: [cursorRow, beforeCursor.text] };
}

describe("what is typed, in rows", () => {
  it("continues under its beginning, and the cursor goes with what follows it", () => {
    const rows = ["> abcd", "  efgh"];
    expect(shown("abcdefgh", 3, 6, 9)).toEqual({ rows, at: [0, "> abc"] });
    expect(shown("abcdefgh", 4, 6, 9)).toEqual({ rows, at: [1, "  "] });
    expect(shown("abcdefgh", 8, 6, 9)).toEqual({ rows, at: [1, "  efgh"] });
    expect(shown("ab\ncd", 2, 6, 9)).toEqual({ rows: ["> ab", "  cd"], at: [0, "> ab"] });
    expect(shown("ab\ncd", 3, 6, 9)).toEqual({ rows: ["> ab", "  cd"], at: [1, "  "] });
  });

  it("is the part around the cursor where there is no space for all", () => {
    const text = "1\n2\n3\n4\n5\n6\n7";
    expect(shown(text, 0, 9, 3)).toEqual({ rows: ["> 1", "  2", "  3"], at: [0, "> "] });
    expect(shown(text, 7, 9, 3)).toEqual({ rows: ["  3", "  4", "  5"], at: [1, "  4"] });
    expect(shown(text, 13, 9, 3)).toEqual({ rows: ["  5", "  6", "  7"], at: [2, "  7"] });
  });

  it("begins at the left where the prompt is wide, behind all rows of the prompt", () => {
    expect(shown("abcdef", 6, 8, 9, "yes or no: ")).toEqual({
      rows: ["yes or n", "o: abcde", "   f"],
      at: [2, "   f"],
    });
    expect(shown("abc", 3, 8, 9, "prompt ")).toEqual({ rows: ["prompt a", "bc"], at: [1, "bc"] });
  });

  it("stays within the width with tabs, and shows what cannot be seen", () => {
    expect(shown("a\tb", 3, 20, 9).rows).toEqual(["> a     b"]);
    expect(shown("abc\td", 5, 6, 9).rows).toEqual(["> abc ", "  d"]);
    expect(sentLines("> ", "a\u202eb\nc", 20)).toEqual(["> a\\u202eb", "  c"]);
  });

  it("is laid out around the cursor only, however long a line is", () => {
    const text = "0123456789".repeat(300_000);
    const { rows, at } = shown(`${text}!`, text.length, 12, 3);
    expect(rows.map((row) => row.trim()).join("")).toMatch(/^\d{20,}!$/);
    expect([rows.length, at[0], rows[2]]).toEqual([3, 2, `${at[1]}!`]);
    const beginning = shown(text, 0, 12, 3);
    expect(beginning).toEqual({
      rows: ["> 0123456789", "  0123456789", "  0123456789"],
      at: [0, "> "],
    });
  });
});
