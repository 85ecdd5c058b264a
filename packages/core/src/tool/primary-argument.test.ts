import { expect, test } from "vitest";
import { primaryArgument } from "./primary-argument.ts";

test.each([
  [{ content: "long", path: "a.txt" }, "a.txt"],
  [{ name: "n", argv: ["npm", "test", 1, { a: 2 }] }, 'npm test 1 {"a":2}'],
  [{ path: "", query: "words" }, "words"],
  [{ argv: [], task: "look" }, "look"],
  [{ path: 7 }, undefined],
  [Object.create({ path: "inherited" }), undefined],
  [{}, undefined],
  [["path"], undefined],
  ["path", undefined],
  [null, undefined],
])("of %j it is %j", (input: unknown, about) => {
  expect(primaryArgument(input)).toBe(about);
});
