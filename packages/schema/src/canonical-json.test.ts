import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../test/any-character.ts";
import { canonicalJson } from "./canonical-json.ts";

const anyKey = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 4 }),
  fc.constantFrom("__proto__", "0", "9", "10", "01", "4294967295", "-1", "toJSON", "a", "B", "é"),
);

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, undefined, Number.NaN, -0, 1.5, "text", "\ud800", Symbol("s")),
    fc.constant(() => 1),
    fc.constant(new Date(0)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie("value")), { maxLength: 5 }).map(Object.fromEntries),
  ),
}));

describe("canonical JSON", () => {
  test("is every value's text with its keys in order, with any names", () => {
    verifies("PERM-8");
    fc.assert(fc.property(anyValue, (value) => canonicalJson(value) === written(value)));
  });

  test.each([
    [{ 10: 1, 9: 2, b: 3, a: 4 }, '{"10":1,"9":2,"a":4,"b":3}'],
    [JSON.parse('{"b":{"__proto__":1},"a":2}') as object, '{"a":2,"b":{"__proto__":1}}'],
    [{ toJSON: () => 7, a: 1 }, '{"a":1}'],
    [[undefined, () => 1, Symbol("s")], "[null,null,null]"],
    [undefined, "null"],
  ])("%j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
});

/** As plainly as it can be said. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields: string[] = [];
  for (const key of Object.keys(value).toSorted()) {
    const held: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
    if (held === undefined || typeof held === "function") continue;
    fields.push(`${JSON.stringify(key)}:${written(held)}`);
  }
  return `{${fields.join(",")}}`;
}
