import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { JsonSchema, JsonValue } from "./index.ts";
import { plainCheck } from "./plain-check.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 3_000 : 100;

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const texts = ["", "a", "ab", "😀", "a😀", "😀😀", "\ud83d", "abc"];
const numbers = [-1, 0, 1, 1.5, 2, 1e300];
const scalar = fc.constantFrom<JsonValue>(...texts, ...numbers, true, false, null);
const names = fc.constantFrom("p", "q", "r", "__proto__");
const types = fc.constantFrom(
  "object",
  "string",
  "number",
  "integer",
  "boolean",
  "array",
  "null",
  ["string", "null"],
  ["integer", "array", "object"],
);

const { anyValue } = fc.letrec<{ anyValue: JsonValue }>((tie) => ({
  anyValue: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("anyValue"), { maxLength: 3 }),
    fc
      .array(fc.tuple(names, tie("anyValue")), { maxLength: 4 })
      .map((fields) => Object.fromEntries(fields)),
  ),
}));

const { node } = fc.letrec<{ node: JsonSchema | boolean }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    { weight: 1, arbitrary: fc.boolean() },
    {
      weight: 6,
      arbitrary: fc
        .record({
          type: some(types),
          enum: some(fc.array(scalar, { minLength: 1, maxLength: 9 })),
          minLength: some(fc.nat(3)),
          maxLength: some(fc.nat(3)),
          minimum: some(fc.constantFrom(...numbers)),
          maximum: some(fc.constantFrom(...numbers)),
          minItems: some(fc.nat(2)),
          maxItems: some(fc.nat(3)),
          items: some(tie("node")),
          properties: some(
            fc.dictionary(fc.constantFrom("p", "q", "r"), tie("node"), { maxKeys: 3 }),
          ),
          required: some(fc.uniqueArray(fc.constantFrom("p", "q"), { maxLength: 2 })),
          additionalProperties: some(tie("node")),
        })
        .map((given) =>
          Object.fromEntries(Object.entries(given).filter(([, held]) => held !== undefined)),
        ),
    },
  ),
}));

describe("a plain check", () => {
  test("says of every small value what the validator says", () => {
    verifies("SCHEMA-4");
    const counts = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(
        node.filter((one) => typeof one === "object"),
        fc.array(anyValue, { minLength: 20, maxLength: 20 }),
        (schema, values) => {
          const check = plainCheck(schema);
          const ajv = new Ajv2020({
            strict: false,
            strictNumbers: true,
            validateSchema: false,
            meta: false,
          });
          const validate = ajv.compile(schema);
          for (const value of values) {
            const isValid = validate(value);
            counts[isValid ? "valid" : "invalid"] += 1;
            expect(check?.(value)).toBe(isValid);
          }
        },
      ),
      { numRuns },
    );
    expect(counts.valid).toBeGreaterThan(numRuns);
    expect(counts.invalid).toBeGreaterThan(numRuns);
  });

  test.each<[string, JsonSchema]>([
    ["a pattern", { properties: { a: { pattern: "a" } } }],
    ["a format", { items: { format: "date" } }],
    ["a union", { anyOf: [{ type: "string" }] }],
    ["a constant", { additionalProperties: { const: 1 } }],
    ["a reference", { properties: { a: { $ref: "#" } } }],
    ["an enum of objects", { enum: [{}] }],
    ["an enum that is empty", { enum: [] }],
    ["an enum of what is no JSON", { enum: [Number.NaN] }],
    ["an exclusive limit", { exclusiveMinimum: 3 }],
    ["a tuple", { prefixItems: [{ type: "string" }] }],
    ["unique items", { uniqueItems: true }],
    ["a name that every object has", { properties: { constructor: { type: "string" } } }],
  ])("is none for a schema with %s anywhere", (_, schema) => {
    verifies("SCHEMA-4");
    expect(plainCheck(schema)).toBeUndefined();
  });

  test("says nothing of what the validator would count as much work", () => {
    verifies("SCHEMA-4");
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, true]));
    const check = plainCheck({ items: { type: "object", properties: wide } });
    expect(check?.(Array.from({ length: 90 }, () => ({})))).toBe(true);
    expect(check?.(Array.from({ length: 110 }, () => ({})))).toBe(false);
    const long = plainCheck({ minLength: 9_000 });
    expect(long?.("a".repeat(9_500))).toBe(true);
    expect(long?.("a".repeat(11_000))).toBe(false);
    expect(long?.("a".repeat(20_000))).toBe(true);
  });

  test("reads what is no JSON as the validator does", () => {
    verifies("SCHEMA-4");
    expect(plainCheck({ type: "number" })?.(Number.NaN)).toBe(false);
    expect(plainCheck({ type: "number" })?.(Infinity)).toBe(false);
    expect(plainCheck({ type: "object" })?.(() => {})).toBe(false);
    expect(plainCheck({ type: "object" })?.(undefined)).toBe(false);
    expect(plainCheck({ required: ["a"] })?.({ a: undefined })).toBe(false);
    const inherits: unknown = Object.create({ b: 1 });
    expect(plainCheck({ properties: { a: {} }, additionalProperties: false })?.(inherits)).toBe(
      false,
    );
    expect(plainCheck({ properties: { b: { type: "string" } } })?.(inherits)).toBe(false);
  });
});
