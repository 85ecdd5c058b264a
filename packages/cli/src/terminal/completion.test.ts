import { describe, expect, it } from "vitest";
import { candidateLines, commonBeginning } from "./reads.ts";

describe("candidates", () => {
  it("agree on a beginning, in whole characters", () => {
    expect(commonBeginning(["/model", "/mode"])).toBe("/mode");
    expect(commonBeginning(["/mode", "/help"])).toBe("/");
    expect(commonBeginning(["one"])).toBe("one");
    expect(commonBeginning(["e\u0301a", "eb"])).toBe("");
    expect(commonBeginning([])).toBe("");
  });

  it("are in columns that are read downwards", () => {
    expect(candidateLines(["a", "bb", "c", "日本", "e"], 12, 5)).toEqual([
      "a     日本",
      "bb    e",
      "c",
    ]);
    expect(candidateLines(["a", "b"], 80, 5)).toEqual(["a  b"]);
    expect(candidateLines(["a\u001b[2J\n"], 80, 5)).toEqual(["a\\u001b[2J\\n"]);
    expect(candidateLines(["longer than that", "b"], 10, 5)).toEqual(["longer than that", "b"]);
  });

  it("are counted where there are too many", () => {
    const many = Array.from({ length: 100 }, (_, at) => `file${at}`);
    const lines = candidateLines(many, 20, 4);
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe("… and 94 more");
  });
});
