import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson, type JsonDocument } from "./parse-json.ts";

function documentOf(text: string): JsonDocument {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.document;
}

function problemOf(text: string): string {
  const parsed = parseJson(text);
  const [first] = parsed.ok ? [] : parsed.problems;
  return first === undefined ? "none" : `${first.line}:${first.column} ${first.message}`;
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
  ])("the value at %j stands at %s", (path, place) => {
    const { line, column } = documentOf(text).valuePosition(path);
    expect(`${line}:${column}`).toBe(place);
  });

  test.each([
    [["a", 1, "b"], "3:7"],
    [["c"], "4:13"],
    [["a", 0], "2:9"],
  ])("the key of %j stands at %s", (path, place) => {
    const { line, column } = documentOf(text).keyPosition(path);
    expect(`${line}:${column}`).toBe(place);
  });

  test.each([[["a", 7]], [["a", 0, "x"]], [["a", "b"]]])(
    "what is not there, %j, is answered with the nearest around it",
    (path) => {
      const document = documentOf(text);
      const around = document.valuePosition(path.slice(0, -1));
      expect(document.valuePosition(path)).toEqual(around);
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
    ["{}{}", "1:3 goes on after its end"],
    ['{"a":"x\ny"}', "1:6 has a text without its closing double quote"],
    ['{"a":1.}', "1:6 has a number that is not finished"],
    ['{"a":"\\x"}', "1:6 has a backslash before a character that takes none"],
    ['{"a":"\\u12"}', "1:6 has a \\u that is not followed by four hexadecimal digits"],
    ['{"a":"\t"}', "1:6 has a control character in a text"],
    ['{"a":}', "1:6 lacks a value here"],
    ['{"a":1,"b":{"c":1,\n"c":2}}', '2:1 has the key "c" a second time'],
    ['{"a":1,"\\u0061":2}', '1:8 has the key "a" a second time'],
  ])("%j is refused at its place", (text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });

  test("all keys that are there twice are told, in the order of the file", () => {
    const parsed = parseJson('{"a":{"x":1,"x":2},"a":3,"a":4}');
    const places = parsed.ok ? [] : parsed.problems.map(({ column }) => column);
    expect(places).toEqual([13, 20, 26]);
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
        const parsed = parseJson(text);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(parsed.ok).toBe(false);
          return;
        }
        if (parsed.ok) expect(parsed.document.value).toEqual(expected);
        else expect(parsed.problems.every(({ message }) => /second time/.test(message))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
