import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument, type UserDocument } from "./document.ts";
import type { Problem } from "./problem.ts";

function documentOf(text: string, format: "json" | "jsonc" = "json"): UserDocument {
  const parsed = parseDocument(text, "x.json", format);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.document;
}

function problemsOf(text: string): readonly Problem[] {
  const parsed = parseDocument(text, "x.json", "json");
  return parsed.ok ? parsed.document.problems : parsed.problems;
}

function problemOf(text: string): string {
  const [first] = problemsOf(text);
  if (first === undefined) return "none";
  const { line, column, field, message } = first;
  return `${line}:${column} ${field === undefined ? "" : `${field} `}${message}`;
}

describe("positions", () => {
  const text = '{\n  "a": [10,\r\n    { "b": true }],\r  "ä": "x", "c": null\n}';

  test.each([
    [[], "1:1"],
    [["a"], "2:8"],
    [["a", 0], "2:9"],
    [["a", "0"], "2:9"],
    [["a", 1, "b"], "3:12"],
    [["ä"], "4:8"],
    [["c"], "4:18"],
  ])("the value at %j is at %s", (path, place) => {
    const { line, column } = documentOf(text).positionOf(path);
    expect(`${line}:${column}`).toBe(place);
  });

  test.each([
    [["a", 1, "b"], "3:7"],
    [["c"], "4:13"],
    [["a", 0], "2:9"],
  ])("the key of %j is at %s", (path, place) => {
    const { line, column } = documentOf(text).positionOf(path, "key");
    expect(`${line}:${column}`).toBe(place);
  });

  test.each([[["a", 7]], [["a", 0, "x"]], [["a", "b"]]])(
    "what is not there, %j, is answered with the nearest around it",
    (path) => {
      const document = documentOf(text);
      const around = document.positionOf(path.slice(0, -1));
      expect(document.positionOf(path)).toEqual(around);
    },
  );
});

describe("strictness", () => {
  test.each([
    ["", "1:1 is empty"],
    ["  \n ", "2:2 is empty"],
    ['{"a":1,}', '1:8 has a comma before "}"'],
    ["[1,\n]", '2:1 has a comma before "]"'],
    ["// x\n{}", "1:1 has a comment"],
    ['{"a":1 /* x */}', "1:8 has a comment"],
    ["{a:1}", "1:2 has a word or sign that JSON does not know"],
    ['{"a" 1}', '1:6 lacks a ":"'],
    ['{"a":1 "b":2}', '1:8 lacks a ","'],
    ['{"a":1', '1:7 ends where a "}" is still missing'],
    ["[1", '1:3 ends where a "]" is still missing'],
    ["{}{}", "1:3 continues after its end"],
    ['{"a":"x\ny"}', "1:6 has a text without its closing double quote"],
    ['{"a":1.}', "1:6 has a number that is not finished"],
    ['{"a":"\\x"}', "1:6 has a backslash before a character that takes none"],
    ['{"a":"\\u12"}', "1:6 has a \\u that is not followed by four hexadecimal digits"],
    ['{"a":"\t"}', "1:6 has a control character in a text"],
    ['{"a":}', "1:6 lacks a value here"],
    ['{"a":1,"b":{"c":1,\n"c":2}}', "2:1 b.c is given a second time"],
    ['{"a":1,"\\u0061":2}', "1:8 a is given a second time"],
  ])("%j is refused at its place", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  test("all keys that are there twice are reported, in the order of the file", () => {
    const problems = problemsOf('{"a":{"x":1,"x":2},"a":3,"a":4}');
    expect(problems.map(({ column }) => column)).toEqual([13, 20, 26]);
  });

  test("a bottomless file is refused where it becomes too deep, not overflowed on", () => {
    expect(problemOf("[".repeat(200_000))).toBe("1:101 is nested deeper than 100 levels");
    const deepest = "[".repeat(100) + "]".repeat(100);
    expect(problemOf(deepest)).toBe("none");
    expect(problemOf("[[],".repeat(90) + "1" + "]".repeat(90))).toBe("none");
  });

  test("__proto__ is a key like any other", () => {
    const { value } = documentOf('{"__proto__": {"admin": true}}');
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  test("it takes exactly what the platform's parser takes, but for repeated keys", () => {
    const broken = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom("", ",", "}", '"', "/", "'", "-"))
      .map(([json, at, char]) => {
        const cut = at % (json.length + 1);
        return json.slice(0, cut) + char + json.slice(cut + 1);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken), (text) => {
        const parsed = parseDocument(text, "x.json", "json");
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(parsed.ok).toBe(false);
          return;
        }
        expect(parsed.ok && parsed.document.value).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });
});

describe("JSON with comments", () => {
  test("comments and trailing commas are fine, and positions count them", () => {
    const document = documentOf(
      '\uFEFF{ // one\n  /* two */ "a": [1,], "__proto__": 2,\n}',
      "jsonc",
    );
    expect(document.value).toEqual(JSON.parse('{"a":[1],"__proto__":2}'));
    expect(document.positionOf(["a", 0])).toEqual({ line: 2, column: 19 });
    expect(document.positionOf(["a"], "key")).toEqual({ line: 2, column: 13 });
  });
});
