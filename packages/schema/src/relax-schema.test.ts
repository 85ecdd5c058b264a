import { expect, test } from "vitest";
import { verifies } from "#laws";
import { lowerSchema, relaxSchema, type JsonSchema } from "./index.ts";

const PORTABLE = { extended: false };

function relaxed(properties: JsonSchema, more: JsonSchema = {}) {
  const given = { type: "object", properties, ...more };
  const answer = relaxSchema(lowerSchema(given).schema, PORTABLE);
  if (answer === undefined) throw new Error("nothing is offered");
  expect(lowerSchema(answer.schema).kind).toBe("core");
  const shown = answer.schema["properties"] as { readonly [name: string]: JsonSchema };
  return { ...answer, shown };
}

const circle = { type: "object", properties: { r: { type: "number" } }, required: ["r"] };
const box = {
  type: "object",
  properties: { w: { type: "number" }, r: { type: "number" } },
  required: ["w", "r"],
};

test("alternatives become one object with all their fields, and what all of them need", () => {
  verifies("MCP-10");
  const { shown, pointers } = relaxed({ shape: { anyOf: [circle, box], description: "What." } });
  expect(pointers).toEqual(["/properties/shape/anyOf"]);
  expect(shown["shape"]).toMatchObject({
    type: "object",
    properties: { r: { type: "number" }, w: {} },
    required: ["r"],
  });
  const { description } = shown["shape"] as { description: string };
  expect(description).toMatch(/^What\.\n\(Must also match this JSON Schema: \{"anyOf":\[/);
});

test("a text or an object stays a text or an object; lists keep what their items share", () => {
  verifies("MCP-10");
  const { shown } = relaxed({
    a: { oneOf: [{ type: "string", minLength: 3 }, circle] },
    b: {
      anyOf: [
        { type: "array", items: circle },
        { type: "array", items: { type: "string" } },
      ],
    },
  });
  expect(shown["a"]).toMatchObject({ type: ["string", "object"], required: ["r"] });
  expect(shown["a"]).not.toHaveProperty("minLength");
  expect(shown["b"]).toMatchObject({ type: "array", items: { type: ["object", "string"] } });
});

test("a schema that contains itself is written out once", () => {
  verifies("MCP-10");
  const tree = {
    type: "object",
    properties: {
      label: { type: "string" },
      kids: { type: "array", items: { $ref: "#/$defs/tree" } },
    },
    required: ["label"],
  };
  const { shown } = relaxed({ root: { $ref: "#/$defs/tree" } }, { $defs: { tree } });
  expect(shown["root"]).toMatchObject({
    type: "object",
    properties: {
      label: { type: "string" },
      kids: {
        type: "array",
        items: { type: "object", description: "(the same shape as tree again)" },
      },
    },
  });
});

test("a condition shows its fields, needs none of them, and is described in words", () => {
  verifies("MCP-10");
  const { schema, shown } = relaxed(
    { kind: { type: "string" } },
    {
      if: { properties: { kind: { const: "url" } } },
      else: { properties: { path: { type: "string" } }, required: ["path"] },
    },
  );
  expect(shown).toEqual({ kind: { type: "string" }, path: {} });
  expect(schema["required"]).toBeUndefined();
  expect(schema["description"]).toContain('"required":["path"]');
});

test("what covers others goes with them: nothing valid may become invalid", () => {
  verifies("MCP-10");
  const { shown } = relaxed({
    map: { type: "object", patternProperties: { "^x-": {} }, additionalProperties: false },
    pair: { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } },
  });
  expect(shown["map"]).not.toHaveProperty("additionalProperties");
  expect(shown["pair"]).not.toHaveProperty("items");
});

test("a pattern no linear engine runs is reported and not sent", () => {
  verifies("MCP-10");
  const { shown, pointers } = relaxed({ v: { type: "string", pattern: "(?=a)b" } });
  expect(pointers).toEqual(["/properties/v/pattern"]);
  expect(shown["v"]).toMatchObject({ type: "string" });
  expect(shown["v"]).not.toHaveProperty("pattern");
});

test("notes are bounded, however much there is to report", () => {
  verifies("MCP-10");
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [
      `field_${at}`,
      { not: { enum: Array.from({ length: 100 }, (_one, value) => `value ${value}`) } },
    ]),
  );
  const { schema, pointers } = relaxed(many);
  expect(JSON.stringify(schema).length).toBeLessThan(20_000);
  expect(pointers.length).toBeLessThanOrEqual(50);
});

test("nothing is offered of a schema that no arguments fit", () => {
  verifies("MCP-10");
  expect(relaxSchema({ type: "object", not: {} }, PORTABLE)).toBeUndefined();
  expect(relaxSchema({ type: "string" }, PORTABLE)).toBeUndefined();
});
