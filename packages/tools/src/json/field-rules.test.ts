import { expect, test } from "vitest";
import {
  fieldProblems,
  listOf,
  nonEmptyText,
  oneOf,
  wholeNumber,
  type FieldRules,
} from "./field-rules.ts";
import { describeFileProblem } from "./file-problem.ts";
import { parseJson } from "./parse-json.ts";

const RULES: FieldRules = new Map([
  ["name", { required: true, check: nonEmptyText(5) }],
  ["kind", { required: false, check: oneOf(["small", "large"]) }],
  ["count", { required: false, check: wholeNumber(1, 9) }],
  ["tags", { required: false, check: listOf(nonEmptyText(5), 2) }],
]);

function problemsOf(text: string): string[] {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error("bad test");
  const { document } = parsed;
  return fieldProblems("x.json", document, [], document.value, RULES).map(describeFileProblem);
}

test.each([
  ['{"name":"a","kind":"small","count":9,"tags":["x","y"]}', []],
  ['{"name":"abcde","count":1,"tags":[]}', []],
  ["[]", ["x.json:1:1: is a list; an object is expected"]],
  ["null", ["x.json:1:1: is null; an object is expected"]],
  ["{}", ["x.json:1:1: name: is missing"]],
  ['{"name":7}', ["x.json:1:9: name: is 7; text is expected"]],
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
  ['{"name":"a","kind":true}', ['x.json:1:20: kind: is true; expected "small" or "large"']],
  ['{"name":"a","count":10}', ["x.json:1:21: count: is 10; expected a whole number from 1 to 9"]],
  ['{"name":"a","count":0}', ["x.json:1:21: count: is 0; expected a whole number from 1 to 9"]],
  ['{"name":"a","count":1.5}', ["x.json:1:21: count: is 1.5; expected a whole number from 1 to 9"]],
  [
    '{"name":"a","count":"2"}',
    ["x.json:1:21: count: is text; expected a whole number from 1 to 9"],
  ],
  ['{"name":"a","tags":{}}', ["x.json:1:20: tags: is an object; a list is expected"]],
  ['{"name":"a","tags":["x",\n3]}', ["x.json:2:1: tags[1]: is 3; text is expected"]],
  ['{"name":"a","tags":["x","y","z"]}', ["x.json:1:20: tags: has 3 items; at most 2 are allowed"]],
])("%s", (text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test("all problems of an object come at once, and nested ones carry their whole path", () => {
  const parsed = parseJson('{"list":[{"kind":1,"oops":2}]}');
  if (!parsed.ok) throw new Error("bad test");
  const { document } = parsed;
  const entry = { kind: 1, oops: 2 };
  const problems = fieldProblems("x.json", document, ["list", 0], entry, RULES);
  expect(problems.map(describeFileProblem)).toEqual([
    'x.json:1:18: list[0].kind: is 1; expected "small" or "large"',
    "x.json:1:20: list[0].oops: is not a field; there are name, kind, count, tags",
    "x.json:1:10: list[0].name: is missing",
  ]);
});
