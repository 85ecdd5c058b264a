import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { planPatch } from "./patch.ts";

interface Miss {
  code: string;
  message: string;
  details: {
    hunk: number;
    header: string;
    expected_line: number;
    nearest: { line: number; text: string; differs: string }[];
  };
}

function missOf(before: string | Buffer, patch: string): Miss {
  const plan = planPatch(Buffer.from(before), patch, { path: "src/x.txt", create: false });
  if (plan.ok) throw new Error("the patch applied");
  expect(plan.error.code).toBe("patch_apply_failed");
  // It leaves the process as JSON.
  return JSON.parse(JSON.stringify(plan.error)) as Miss;
}

describe("a hunk that finds no place", () => {
  test("is named with its header, the line it was expected at and the nearest text", () => {
    verifies("EDIT-3");
    const lines = Array.from({ length: 40 }, (_, index) => `value_${index} = ${index * 7};\n`);
    const patch =
      "--- a/src/x.txt\n+++ b/src/x.txt\n@@ -2,2 +2,2 @@\n-value_1 = 7;\n+value_1 = 8;\n value_2 = 14;\n" +
      "@@ -20,3 +20,3 @@ func\n value_19 = 133;\n-value_20 = 141;\n+value_20 = 0;\n value_21 = 147;\n";
    const { message, details } = missOf(lines.join(""), patch);
    expect(details).toMatchObject({ hunk: 2, header: "@@ -20,3 +20,3 @@ func", expected_line: 20 });
    expect(details.nearest[0]).toEqual({
      line: 20,
      text: "value_19 = 133;\nvalue_20 = 140;\nvalue_21 = 147;\n",
      differs: "digits: the patch has 141, the file has 140 (line 21)",
    });
    expect(message).toContain("Hunk 2 (@@ -20,3 +20,3 @@ func) does not apply to src/x.txt");
    expect(message).toContain("Nearest is line 20: digits: the patch has 141, the file has 140");
    expect(message).toContain("No hunk has been applied");
  });

  test.each([
    ["tabs for spaces", "if (x) {\n    go();\n}\n", "if (x) {\n\tgo();\n}\n", "indentation"],
    ["quotes", "say('hello there');\n", 'say("hello there");\n', "quotes"],
    [
      "line ends of Windows in the file",
      "alpha();\r\nbeta();\r\n",
      "alpha();\nbeta();\n",
      "U+000D",
    ],
    [
      "line ends of Windows in the patch",
      "alpha();\nbeta();\n",
      "alpha();\r\nbeta();\r\n",
      "U+000D",
    ],
    ["letter case", "const Total = 1;\n", "const total = 1;\n", "letter case"],
  ])("says what differs: %s", (_, file, wanted, words) => {
    verifies("EDIT-3");
    const before = Buffer.from(`first\nsecond\n${file}last\n`);
    const lines = wanted.match(/[^\n]*\n/g) ?? [];
    const patch = `@@ -3,${lines.length} +3,${lines.length + 1} @@\n${lines.map((line) => `-${line}`).join("")}${lines.map((line) => `+${line}`).join("")}+more\n`;
    const { nearest } = missOf(before, patch).details;
    expect(nearest[0]?.line).toBe(3);
    expect(nearest[0]?.differs).toContain(words);
  });

  test("is shown the place with most of its lines first, and of equal ones the nearest", () => {
    verifies("EDIT-3");
    const file = "x\none\n\ntwo\nthree\n\none\ntwo\n\nz\n";
    const better = missOf(file, "@@ -2,4 +2,4 @@\n one\n two\n-gone\n+x\n z\n").details.nearest;
    expect(better[0]?.line).toBe(7);
    const same = "key\n1\n2\n3\n4\nkey\n5\n6\nkey\n";
    const nearer = missOf(same, "@@ -6,2 +6,2 @@\n key\n-gone\n+x\n").details.nearest;
    expect(nearer.map(({ line }) => line)).toEqual([6, 9, 1]);
  });

  test("shows what is at its line when nothing is like it", () => {
    verifies("EDIT-3");
    const { message, details } = missOf("one\ntwo\nthree\n", "@@ -2 +2 @@\n-zyxwv\n+x\n");
    expect(message).toContain("Read the file again");
    expect(details.nearest).toEqual([
      { line: 2, text: "two\n", differs: "nothing like the lines of the hunk" },
    ]);
    expect(missOf("", "@@ -2 +2 @@\n-zyxwv\n+x\n").details.nearest).toEqual([]);
  });

  test("says that the file ends too early", () => {
    verifies("EDIT-3");
    const { nearest } = missOf("one\ntwo\n", "@@ -1,3 +1,2 @@\n one\n two\n-three\n").details;
    expect(nearest[0]).toMatchObject({ line: 1, differs: "the file ends before line 3" });
  });

  test("says that it seems to be applied already", () => {
    verifies("EDIT-3");
    const { message, details } = missOf("a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    expect(message).toContain("it is there already");
    expect(details.nearest[0]?.line).toBe(1);
  });

  test("says which ends of the file it would have to be at", () => {
    verifies("EDIT-3");
    const start = missOf("x\na\nb\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n");
    expect(start.message).toMatch(
      /at line 2, but the header says line 1.*Correct the line numbers/,
    );
    const end = missOf("x\na\nb\nc\n", "@@ -2,2 +2,2 @@\n a\n-b\n+B\n");
    expect(end.message).toMatch(
      /at line 2, but without an unchanged line after.*Add the unchanged/,
    );
    const adding = missOf("a\nb\nc\n", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -1,0 +2 @@\n+x\n");
    expect(adding.message).toMatch(/only adds lines.*Add the unchanged lines around/);
  });

  test("says that an earlier hunk has its lines", () => {
    verifies("EDIT-3");
    const patch = "@@ -1,3 +1,3 @@\n-a\n+A\n b\n c\n@@ -3,2 +3,2 @@\n c\n-d\n+D\n";
    const { message, details } = missOf("a\nb\nc\nd\n", patch);
    expect(message).toMatch(/earlier hunk has these lines already.*join the two/);
    expect(details).toMatchObject({ hunk: 2, nearest: [{ line: 3 }] });
  });

  test("says so in UTF-16 too, in readable text", () => {
    verifies("EDIT-4");
    const file = Buffer.from("\ufeffeins äöü\nzwei = 30000\ndrei\n", "utf16le");
    const { nearest } = missOf(file, "@@ -2,2 +2,2 @@\n-zwei = 30001\n+zwei\n drei\n").details;
    expect(nearest[0]).toMatchObject({
      line: 2,
      text: "zwei = 30000\ndrei\n",
      differs: "digits: the patch has 30001, the file has 30000 (line 2)",
    });
  });

  test("never shows more than some lines of the file, nor more than three places", () => {
    verifies("EDIT-3");
    const block = `start ${"x".repeat(300)}\n${"filler\n".repeat(40)}`;
    const patch = `@@ -1,42 +1,42 @@\n start ${"x".repeat(300)}\n${" filler\n".repeat(40)}-stop\n+x\n`;
    const { message, details } = missOf(block.repeat(10), patch);
    expect(details.nearest).toHaveLength(3);
    for (const { text } of details.nearest) {
      expect(text.length).toBeLessThanOrEqual(2000);
      expect(text.split("\n").length).toBeLessThanOrEqual(21);
    }
    expect(message.length).toBeLessThan(2000);
  });
});
