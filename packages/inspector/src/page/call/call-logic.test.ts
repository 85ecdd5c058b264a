import type { ToolError } from "@soong/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffLines } from "./diff-lines.ts";
import { isWithin, jsonLines } from "../parts/json-code.tsx";
import { nextCut, sizeText } from "../parts/text.tsx";
import { findSign } from "../parts/signs.tsx";
import { adviceText, originText } from "./words.ts";
import { shellWord } from "@soong/core/internal";

const HALF_CHARACTER = /^[\udc00-\udfff]|[\ud800-\udbff]$/;

describe("the lines of a diff", () => {
  test("are numbered on both sides", () => {
    const lines = diffLines("--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ f()\n one\n-two\n+2\n three\n");
    expect(lines).toEqual([
      { kind: "head", text: "--- a/x" },
      { kind: "head", text: "+++ b/x" },
      { kind: "hunk", text: "@@ -3,3 +3,3 @@ f()" },
      { kind: "same", text: "one", old: 3, new: 3 },
      { kind: "removed", text: "two", old: 4 },
      { kind: "added", text: "2", new: 4 },
      { kind: "same", text: "three", old: 5, new: 5 },
    ]);
  });

  test("are distinguished from headers by the counts of their hunk", () => {
    const kinds = diffLines("@@ -1,2 +1 @@\n--- old\n-x\n+++ new\n--- a/next").map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(["hunk", "removed", "removed", "added", "head"]);
  });

  test("take an empty line for an unchanged one, and keep the remark on a missing newline", () => {
    const lines = diffLines("@@ -1,2 +1,2 @@\n\n-a\n\\ No newline at end of file\n+b");
    expect(lines.map(({ kind }) => kind)).toEqual(["hunk", "same", "removed", "remark", "added"]);
    expect(lines[3]).toEqual({ kind: "remark", text: "No newline at end of file" });
  });

  test("are all there, for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("+a", "-a", " a", "", "@@ -1,2 +1 @@", "x")), (rows) => {
        const diff = rows.join("\n");
        expect(diffLines(diff)).toHaveLength(diff.replace(/\n$/, "").split("\n").length);
      }),
    );
  });
});

describe("the lines of a JSON value", () => {
  test("are the text that JSON.stringify makes of it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = [...jsonLines(value)]
          .map((line) => "  ".repeat(line.depth) + line.text)
          .join("\n");
        expect(text).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  test("know where they belong", () => {
    const pointers = [...jsonLines({ a: [1, { "b/~": 2 }] })].map(({ pointer }) => pointer);
    expect(pointers).toEqual(["", "/a", "/a/0", "/a/1", "/a/1/b~1~0", "/a/1", "/a", ""]);
    expect(pointers.map((pointer) => isWithin(pointer, "/a/1"))).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(isWithin("/ab", "/a")).toBe(false);
    expect(isWithin("/ab", "")).toBe(true);
  });

  test("come one by one, however deep or long the value is", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 3_000; level += 1) deep = [deep];
    expect([...jsonLines(deep)]).toHaveLength(6_001);
    const lines = jsonLines(Array.from({ length: 200_000 }, () => 0));
    expect(lines.next().value).toMatchObject({ text: "[" });
    expect(lines.next().value).toMatchObject({ text: "0,", pointer: "/0" });
  });
});

describe("cutting a long text", () => {
  test("gives it back whole, slice by slice, and halves no character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\n", "é", "👍"), maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        (text, step) => {
          const slices: string[] = [];
          for (let from = 0; from < text.length;) {
            const cut = nextCut(text, from, step);
            slices.push(text.slice(from, cut));
            from = cut > from ? cut : text.length;
          }
          expect(slices.filter((slice) => slice === "" || HALF_CHARACTER.test(slice))).toEqual([]);
          expect(slices.join("")).toBe(text);
        },
      ),
    );
  });

  test("prefers the end of a line that is near", () => {
    expect(nextCut("aaaaaaa\nbbbbbbb", 0, 10)).toBe(8);
    expect(nextCut("a\nbbbbbbbbbbbbbbb", 0, 10)).toBe(10);
  });

  test("names sizes", () => {
    expect([999, 1000, 2_500_000].map(sizeText)).toEqual(["999 bytes", "1.0 kB", "2.5 MB"]);
  });
});

describe("words", () => {
  test("show unknown values as they are", () => {
    expect(findSign("half_done")).toEqual({ icon: "•", word: "half done", tone: "quiet" });
    expect(findSign("constructor").word).toBe("constructor");
  });

  test("advise what would make a call work, and say nothing of one that ran and failed", () => {
    const advise = (error_class: string, recovery: string) =>
      adviceText({ error_class, recovery } as ToolError);
    expect(advise("invalid_arguments", "change_arguments")).toBe(
      "The same call with other arguments may work.",
    );
    expect(advise("policy_blocked", "use_another_tool")).toBe("Use another tool.");
    expect(advise("permission_denied", "needs_approval")).toMatch(/^It requires approval/);
    expect(advise("unknown_tool", "discover_first")).toMatch(/search first/);
    expect(advise("execution_failed", "none"), "a failing test").toBeUndefined();
    expect(advise("execution_failed", "retry")).toBeUndefined();
    expect(advise("timeout", "retry")).toBeUndefined();
    expect(advise("policy_blocked", "none")).toBeUndefined();
    expect(advise("of_later", "pray_hard")).toBe("pray hard.");
    expect(advise("of_later", "toString")).toBe("toString.");
  });

  test("name the place of a rule", () => {
    expect(originText({ file: "/h/config.toml", line: 7 })).toBe("/h/config.toml:7");
    expect(originText({ file: "/h/config.toml" })).toBe("/h/config.toml");
    expect(originText({ flag: "--deny x" })).toBe("--deny x");
    expect(originText(undefined)).toBe("");
  });

  test("write an argument as one word", () => {
    expect(["ls", "a b", "it's", ""].map(shellWord)).toEqual(["ls", "'a b'", `'it'\\''s'`, "''"]);
  });
});
