import { ToolFailure } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { parsePathGlob } from "./path-glob.ts";

describe("a glob", () => {
  test.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "deep/er/a.ts", true],
    ["*.ts", "a.js", false],
    ["/a.ts", "a.ts", true],
    ["/a.ts", "b/a.ts", false],
    ["./a.ts", "b/a.ts", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "x/src/a.ts", false],
    ["src/", "src/a/b.ts", true],
    ["src/", "lib/a.ts", false],
    ["*.{js,ts}", "a.js", true],
    ["*.{js,ts}", "a.py", false],
    ["{a,b/{c,d}}.ts", "b/d.ts", true],
    ["{a,b/{c,d}}.ts", "x/a.ts", true],
    ["{a,b/{c,d}}.ts", "x/b/d.ts", false],
    ["a{,b}", "ab", true],
    ["a{,b}", "a", true],
    ["[{,}]", ",", true],
    ["\\{a}", "{a}", undefined],
    ["\\{a\\}", "{a}", true],
    ["!*.ts", "a.ts", false],
    ["!*.ts", "a.js", true],
    ["!build", "build/x/y.js", false],
    ["!build", "x/build/y.js", false],
    ["!/build", "x/build/y.js", true],
    ["!", "!", true],
  ])("%j on %j is %s", (glob, path, expected) => {
    verifies("CODE-3");
    if (expected === undefined) expect(() => parsePathGlob(glob)).toThrow(ToolFailure);
    else expect(parsePathGlob(glob).admits(path)).toBe(expected);
  });

  test.each(["a//b", "../a", "a/./b", "{a", "a}", "[a", "a\nb", "a\0", "/", "x".repeat(1001)])(
    "%j is refused with a reason",
    (glob) => {
      verifies("CODE-2");
      expect(() => parsePathGlob(glob)).toThrow(/cannot be used: .+\. Give another glob/s);
    },
  );

  test("braces that represent thousands of globs are refused before they are written out", () => {
    expect(() => parsePathGlob("{a,b}".repeat(40))).toThrow(/more than 100 globs/);
    expect(parsePathGlob("{a,b}".repeat(6)).admits("ababab")).toBe(true);
  });

  test("becomes lines of an ignore file that mean the same", () => {
    expect(parsePathGlob("*.ts").ignoreLines).toEqual(["*", "!*/", "!*.ts"]);
    expect(parsePathGlob("src/{a,b} ").ignoreLines).toEqual([
      "*",
      "!*/",
      "!/src/a\\ ",
      "!/src/b\\ ",
    ]);
    expect(parsePathGlob("!#x").ignoreLines).toEqual(["\\#x"]);
    expect(parsePathGlob("!!x").ignoreLines).toEqual(["\\!x"]);
  });

  test("says whether only a listing with depth can meet it", () => {
    expect(parsePathGlob("src/*.ts").needsDepth).toBe(true);
    expect(parsePathGlob("/src").needsDepth).toBe(false);
    expect(parsePathGlob("{a,b/c}").needsDepth).toBe(false);
  });
});
