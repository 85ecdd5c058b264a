import { describe, expect, expectTypeOf, test } from "vitest";
import { checkDocument, checkValue, parseDocument, type UserDocument } from "./document.ts";
import {
  choice,
  flag,
  list,
  object,
  optional,
  refine,
  type ShapeValue,
  text,
  wholeNumber,
} from "./shape.ts";
import { describeProblem } from "./problem.ts";

const SHAPE = object({
  name: text({ max: 5 }),
  kind: optional(choice(["small", "large"])),
  count: optional(wholeNumber(1, 9)),
  tags: optional(list(text({ max: 5 }), { max: 2 })),
});

function documentOf(written: string, format: "json" | "yaml" = "json"): UserDocument {
  const parsed = parseDocument(written, `x.${format}`, format);
  if (!parsed.ok) throw new Error("bad test");
  return parsed.document;
}

function problemsOf(written: string): string[] {
  const checked = checkDocument(documentOf(written), SHAPE);
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

test.each([
  ['{"name":"a","kind":"small","count":9,"tags":["x","y"]}', []],
  ['{"name":"abcde","count":1,"tags":[]}', []],
  ["[]", ["x.json:1:1: is a list; an object is expected"]],
  ["null", ["x.json:1:1: is null; an object is expected"]],
  ["{}", ["x.json:1:1: name: is missing"]],
  ['{"name":7}', ["x.json:1:9: name: is 7; text is expected: put it in quotes"]],
  ['{"name":" "}', ["x.json:1:9: name: is empty"]],
  ['{"name":"a\\u0000"}', ["x.json:1:9: name: contains a NUL character"]],
  ['{"name":"abcdef"}', ["x.json:1:9: name: has 6 characters; at most 5 are allowed"]],
  ['{"name":"a",\n "cuont":1}', ['x.json:2:2: cuont: is not a field; did you mean "count"?']],
  [
    '{"name":"a","zzzzzzzz":1}',
    ["x.json:1:13: zzzzzzzz: is not a field; there are name, kind, count, tags"],
  ],
  [
    '{"name":"a","__proto__":1}',
    ["x.json:1:13: __proto__: is not a field; there are name, kind, count, tags"],
  ],
  ['{"name":"a","kind":"smal"}', ['x.json:1:20: kind: is "smal"; did you mean "small"?']],
  ['{"name":"a","kind":true}', ['x.json:1:20: kind: is true; "small" or "large" is expected']],
  [
    '{"name":"a","count":10}',
    ["x.json:1:21: count: is 10; a whole number from 1 to 9 is expected"],
  ],
  ['{"name":"a","count":0}', ["x.json:1:21: count: is 0; a whole number from 1 to 9 is expected"]],
  [
    '{"name":"a","count":1.5}',
    ["x.json:1:21: count: is 1.5; a whole number from 1 to 9 is expected"],
  ],
  [
    '{"name":"a","count":"2"}',
    ["x.json:1:21: count: is text; a whole number from 1 to 9 is expected"],
  ],
  ['{"name":"a","tags":{}}', ["x.json:1:20: tags: is an object; a list is expected"]],
  [
    '{"name":"a","tags":["x",\n3]}',
    ["x.json:2:1: tags[1]: is 3; text is expected: put it in quotes"],
  ],
  ['{"name":"a","tags":["x","y","z"]}', ["x.json:1:20: tags: has 3 items; at most 2 are allowed"]],
])("%s", (text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test("all problems of a part come at once, in the order of the file, with their whole path", () => {
  const document = documentOf('{"list":[{"kind":1,"oops":2}]}');
  const checked = checkDocument(document, SHAPE, { path: ["list", 0] });
  expect(checked.ok ? [] : checked.problems.map(describeProblem)).toEqual([
    "x.json:1:10: list[0].name: is missing",
    'x.json:1:18: list[0].kind: is 1; "small" or "large" is expected',
    "x.json:1:20: list[0].oops: is not a field; there are name, kind, count, tags",
  ]);
});

test("a key given twice fails the check beside everything else", () => {
  expect(problemsOf('{"name":"a","name":"b","count":0}')).toEqual([
    "x.json:1:13: name: is given a second time",
    "x.json:1:32: count: is 0; a whole number from 1 to 9 is expected",
  ]);
});

test("no more than a hundred problems are listed, and the rest is counted", () => {
  const checked = checkDocument(documentOf(`[${"1,".repeat(149)}1]`), list(text()));
  const problems = checked.ok ? [] : checked.problems;
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)).toEqual({
    file: "x.json",
    line: 1,
    column: 200,
    message: "has 50 more problems after these",
  });
});

test("what looks like a secret is never repeated", () => {
  const secret = `sk-ant-api03-${"a1B2c3D4".repeat(6)}`;
  const found = problemsOf(`{"name":"a","kind":"${secret}","${secret}":1,"count":"${secret}"}`);
  expect(found).toHaveLength(3);
  expect(found.join()).not.toContain(secret.slice(0, 40));
});

describe("the words", () => {
  const TURN = object(
    {
      text: optional(text()),
      stop: optional(flag),
      tools: optional(list(text(), { of: "names" })),
    },
    {
      what: "a turn",
      together(value, place) {
        if (Object.keys(value).length === 0) place.report("has neither text nor tools");
      },
    },
  );

  test.each([
    ["text", "x.yaml:1:1: is text; a turn is a mapping of text, stop, tools"],
    ["{}", "x.yaml:1:1: has neither text nor tools"],
    ["txet: a", 'x.yaml:1:1: txet: is not a field of a turn; did you mean "text"?'],
    ["zzzzzz: a", "x.yaml:1:1: zzzzzz: is not a field of a turn; it has text, stop, tools"],
    ["text:", "x.yaml:1:6: text: is empty; text is expected"],
    ["stop: {}", "x.yaml:1:7: stop: is a mapping; true or false is expected"],
    ["tools: 1", "x.yaml:1:8: tools: is 1; a list of names is expected"],
    ['"a b": 1', 'x.yaml:1:1: ["a b"]: is not a field of a turn; it has text, stop, tools'],
    ["text: a\ntext: b", "x.yaml:2:1: text: is given a second time"],
  ])("of YAML: %j", (written, problem) => {
    const checked = checkDocument(documentOf(written, "yaml"), TURN);
    expect(checked.ok ? [] : checked.problems.map(describeProblem)).toEqual([problem]);
  });

  test("a value from code is held to the same shape", () => {
    expect(checkValue({ stop: null }, TURN)).toEqual([
      { path: ["stop"], of: "value", message: "is null; true or false is expected" },
    ]);
  });

  test("a refinement looks at sound values only", () => {
    const even = refine(list(wholeNumber(0, 9)), (numbers, place) => {
      if (numbers.length % 2 === 1) place.in(0).report("is the first of an odd number");
    });
    expect(checkValue([1, 2], even)).toEqual([]);
    expect(checkValue([1], even).map(({ path }) => path)).toEqual([[0]]);
    expect(checkValue(["a"], even).map(({ message }) => message)).toEqual([
      "is text; a whole number from 0 to 9 is expected",
    ]);
  });
});

test("a shape has the type of its values", () => {
  expectTypeOf<ShapeValue<typeof SHAPE>>().toMatchObjectType<{
    name: string;
    kind?: "small" | "large";
    count?: number;
    tags?: string[];
  }>();
});
