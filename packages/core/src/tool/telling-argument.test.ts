import { expect, test } from "vitest";
import { tellingArgument } from "./telling-argument.ts";

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
  expect(tellingArgument(input)).toBe(about);
});
