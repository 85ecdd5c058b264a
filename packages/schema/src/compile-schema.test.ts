import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { compileSchema, readSchema, type JsonSchema } from "./index.ts";

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  ...more,
});

function accepts(schema: JsonSchema, value: unknown): boolean {
  return compileSchema(schema)(value).ok;
}

function messages(schema: JsonSchema, value: unknown): string[] {
  const checked = compileSchema(schema)(value);
  return checked.ok ? [] : checked.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("a check", () => {
  test("is made once for a schema object, and answers success with one shared object", () => {
    verifies("SCHEMA-4");
    const schema = object({ a: { type: "string" } });
    const check = compileSchema(schema);
    expect(compileSchema(schema)).toBe(check);
    expect(check({ a: "x" })).toBe(check({}));
  });

  test("coerces nothing and fills in nothing", () => {
    verifies("SCHEMA-2", "SCHEMA-4");
    const schema = object({ n: { type: "number", default: 3 }, b: { type: "boolean" } });
    expect(accepts(schema, { n: "5" })).toBe(false);
    expect(accepts(schema, { b: "true" })).toBe(false);
    expect(accepts(schema, { n: null })).toBe(false);
    const value = {};
    expect(accepts(schema, value)).toBe(true);
    expect(value).toEqual({});
  });

  test("finds every problem of a value at once", () => {
    verifies("SCHEMA-4");
    const schema = object(
      { a: { type: "string" }, b: { type: "integer", minimum: 1 } },
      {
        required: ["a", "c"],
        additionalProperties: false,
      },
    );
    expect(messages(schema, { a: 5, b: 0, x: 1 })).toEqual([
      "c: required, but missing; expected a value",
      'x: unknown field; known fields: "a", "b"',
      "a: expected string, got number 5",
      "b: expected a number of at least 1, got number 0",
    ]);
  });

  test("counts characters, not UTF-16 units", () => {
    verifies("SCHEMA-4");
    const schema = object({ s: { type: "string", minLength: 2, maxLength: 3 } });
    expect(accepts(schema, { s: "😀" })).toBe(false);
    expect(accepts(schema, { s: "😀😀" })).toBe(true);
    expect(accepts(schema, { s: "😀😀😀" })).toBe(true);
    expect(accepts(schema, { s: "😀😀😀😀" })).toBe(false);
    expect(accepts(schema, { s: "abcd" })).toBe(false);
  });

  test("sees own fields only: no call inherits a `constructor` argument", () => {
    verifies("SCHEMA-4");
    const named = object({ constructor: { type: "string" }, toString: { type: "string" } });
    expect(accepts(named, {})).toBe(true);
    expect(accepts(named, { constructor: 5 })).toBe(false);
    expect(accepts(object({}, { required: ["valueOf"] }), {})).toBe(false);
    expect(accepts(object({}, { dependentRequired: { a: ["toString"] } }), { a: 1 })).toBe(false);
  });

  test("sees a key called __proto__ as the unknown field it is", () => {
    verifies("SCHEMA-4");
    const value: unknown = JSON.parse('{"a":"x","__proto__":{"admin":true}}');
    expect(
      messages(object({ a: { type: "string" } }, { additionalProperties: false }), value),
    ).toEqual(['__proto__: unknown field; known fields: "a"']);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("understands draft-07, OpenAPI's nullable, tuples and dependencies", () => {
    verifies("SCHEMA-3", "SCHEMA-4");
    const schema = object(
      {
        ref: { $ref: "#/definitions/Small" },
        maybe: { type: "string", nullable: true },
        pair: {
          type: "array",
          items: [{ type: "string" }, { type: "number" }],
          additionalItems: false,
        },
        above: { type: "number", minimum: 1, exclusiveMinimum: true },
      },
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { Small: { id: "#small", type: "string", maxLength: 2 } },
        dependencies: { ref: ["maybe"] },
      },
    );
    expect(accepts(schema, { ref: "ab", maybe: null, pair: ["a", 1], above: 1.1 })).toBe(true);
    expect(accepts(schema, { ref: "abc", maybe: null })).toBe(false);
    expect(accepts(schema, { ref: "ab" })).toBe(false);
    expect(accepts(schema, { pair: ["a", 1, 2] })).toBe(false);
    expect(accepts(schema, { pair: [1] })).toBe(false);
    expect(accepts(schema, { above: 1 })).toBe(false);
  });

  test("follows recursive references", () => {
    verifies("SCHEMA-3", "SCHEMA-4");
    const schema = object(
      { kids: { type: "array", items: { $ref: "#" } } },
      { additionalProperties: false },
    );
    expect(accepts(schema, { kids: [{ kids: [] }, { kids: [{}] }] })).toBe(true);
    expect(messages(schema, { kids: [{ kids: [{ kid: 1 }] }] })).toEqual([
      'kids[0].kids[0].kid: unknown field; did you mean "kids"?',
    ]);
  });

  test("keeps two schemas with the same $id apart", () => {
    verifies("SCHEMA-4");
    const one = object({ a: { type: "string" } }, { $id: "https://example.com/tool" });
    const two = object({ a: { type: "number" } }, { $id: "https://example.com/tool" });
    expect([accepts(one, { a: "x" }), accepts(two, { a: 1 }), accepts(one, { a: 1 })]).toEqual([
      true,
      true,
      false,
    ]);
    expect(accepts(object({ a: { $ref: "https://example.com/tool" } }), {})).toBe(false);
  });

  test("takes unknown keywords, unknown formats and `$async` as saying nothing", () => {
    verifies("SCHEMA-4");
    const schema = object(
      { a: { type: "string", format: "no-such-format", widget: "x" } },
      { $async: true },
    );
    expect(compileSchema(schema)({ a: "x" })).toEqual({ ok: true });
  });

  test("checks any value, not only objects", () => {
    verifies("SCHEMA-7");
    const schema = { type: "array", items: { type: "number" } };
    expect(accepts(schema, [1, 2])).toBe(true);
    expect(messages(schema, ["a"])).toEqual(['[0]: expected number, got string "a"']);
    expect(messages({ type: "string" }, undefined)).toEqual([": expected string, got missing"]);
    expect(accepts({ type: "number" }, Number.NaN)).toBe(false);
  });

  test("lets no value through an empty enum", () => {
    verifies("SCHEMA-4");
    expect(accepts(object({ a: { enum: [] } }), { a: "x" })).toBe(false);
    expect(accepts(object({ a: { enum: [] } }), {})).toBe(true);
  });
});

describe("a schema that means harm", () => {
  test("that cannot be compiled gives a check that says so, and no exception", () => {
    verifies("SCHEMA-4");
    for (const schema of [
      { type: "strnig" },
      { properties: 5 },
      { $ref: "https://example.com/never-fetched.json" },
      { $ref: "#/nowhere" },
      { required: "a" },
    ] as JsonSchema[]) {
      const checked = compileSchema(schema)({});
      expect(checked.ok ? "" : checked.issues[0]?.message).toContain("cannot be used");
    }
    let deep: JsonSchema = {};
    for (let level = 0; level < 50_000; level += 1) deep = { items: deep };
    expect(compileSchema(deep)({}).ok).toBe(false);
  });

  test("whose pattern backtracks is answered in linear time", () => {
    verifies("SCHEMA-8");
    const schema = object(
      { s: { type: "string", pattern: "^(a+)+$" } },
      { patternProperties: { "(x+x+)+y": {} } },
    );
    expect(accepts(schema, { s: `${"a".repeat(200_000)}!` })).toBe(false);
    expect(accepts(schema, { s: "a".repeat(200_000) })).toBe(true);
    expect(accepts(schema, { ["x".repeat(100_000)]: 1 })).toBe(true);
  });

  test("whose pattern needs lookbehind is not enforced there, and only there", () => {
    verifies("SCHEMA-8");
    const schema = object(
      { s: { type: "string", pattern: "(?<=a)b", maxLength: 2 } },
      {
        patternProperties: { "(.)\\1": { type: "string" }, "^k": { type: "number" } },
        additionalProperties: false,
      },
    );
    expect(accepts(schema, { s: "zz" })).toBe(true);
    expect(accepts(schema, { s: "zzz" })).toBe(false);
    expect(accepts(schema, { other: 1 })).toBe(true);
    expect(accepts(schema, { k: "a" })).toBe(false);
  });

  test("that applies itself twice on every level ends", () => {
    verifies("SCHEMA-8");
    const $defs: Record<string, unknown> = { n50: { type: "string" } };
    for (let level = 0; level < 50; level += 1) {
      const next = { $ref: `#/$defs/n${level + 1}` };
      $defs[`n${level}`] = { allOf: [next, next] };
    }
    expect(messages(object({ x: { $ref: "#/$defs/n0" } }, { $defs }), { x: "a" })).toEqual([
      ": checking the value against its schema takes too long; send less at once",
    ]);
    const endless = object(
      { x: { $ref: "#/$defs/a" } },
      { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } },
    );
    expect(accepts(endless, { x: 1 })).toBe(false);
  });

  test("with a deep value and a branching recursion ends", () => {
    verifies("SCHEMA-8");
    const schema = object(
      { x: { $ref: "#/$defs/n" } },
      {
        $defs: {
          n: {
            properties: {
              x: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] },
              leaf: { type: "string" },
            },
          },
        },
      },
    );
    let value: unknown = { leaf: 5 };
    for (let level = 0; level < 60; level += 1) value = { x: value };
    expect(accepts(schema, { x: value })).toBe(false);
  });

  test("that makes a million complaints possible gets a bounded answer", () => {
    verifies("SCHEMA-8");
    const schema = object({ list: { type: "array", items: { type: "string" } } });
    const checked = compileSchema(schema)({ list: Array.from({ length: 300_000 }, (_, i) => i) });
    expect(checked.ok ? 0 : checked.issues.length).toBe(1);
  });

  test("does not let the complaints of one alternative refuse another", () => {
    verifies("SCHEMA-4");
    const schema = object({
      list: {
        anyOf: [
          { type: "array", items: { type: "string" } },
          { type: "array", items: { type: "number" } },
        ],
      },
    });
    expect(accepts(schema, { list: Array.from({ length: 5_000 }, (_, i) => i) })).toBe(true);
    expect(accepts(schema, { list: [...Array.from({ length: 5_000 }, (_, i) => i), "x"] })).toBe(
      false,
    );
  });

  test("with thousands of fields still compiles", () => {
    verifies("SCHEMA-4");
    const schema = object(
      Object.fromEntries(
        Array.from({ length: 1_500 }, (_, i) => [`p${i}`, { type: "string", enum: [`${i}`] }]),
      ),
    );
    expect(readSchema(schema).ok).toBe(true);
    expect(accepts(schema, { p1: "1", p1499: "1499" })).toBe(true);
    expect(messages(schema, { p7: "8" })).toEqual(['p7: expected "7", got string "8"']);
  });
});

describe("uniqueItems", () => {
  const schema = object({ list: { type: "array", uniqueItems: true } });

  test("compares values, in any order of their keys", () => {
    verifies("SCHEMA-4");
    expect(messages(schema, { list: [{ a: 1, b: [2] }, 3, { b: [2], a: 1 }] })).toEqual([
      "list: expected items that all differ, got equal items 0 and 2",
    ]);
    for (const list of [
      [1, "1", true, "true", null, "null"],
      [{ a: 1 }, '{"a":1}', [1], "[1]", "{}", {}],
      [
        [1, 2],
        [2, 1],
        [[1], 2],
      ],
    ]) {
      expect(accepts(schema, { list })).toBe(true);
    }
    for (const list of [
      [1, 1],
      [null, null],
      [0, -0],
      [[], []],
      [{}, {}],
      ["a", "a"],
    ]) {
      expect(accepts(schema, { list })).toBe(false);
    }
  });

  test("takes an argument's worth of objects without comparing each with each", () => {
    verifies("SCHEMA-8");
    const list = Array.from({ length: 40_000 }, (_, i) => ({ id: i, name: `n${i}` }));
    expect(accepts(schema, { list })).toBe(true);
    expect(accepts(schema, { list: [...list, { name: "n7", id: 7 }] })).toBe(false);
  });
});
