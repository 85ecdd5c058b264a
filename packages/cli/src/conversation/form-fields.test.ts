// What may be typed into a form, field by field.

import type { JsonObject } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { formFields, readField, type FormField } from "./form-fields.ts";

function fieldOf(schema: JsonObject, required = false): FormField {
  const [field] = formFields({
    type: "object",
    properties: { it: schema },
    ...(required ? { required: ["it"] } : {}),
  });
  if (field === undefined) throw new Error("no field");
  return field;
}

const COLOURS = { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] };

test.each<[string, JsonObject, string, unknown]>([
  ["a text", { type: "string" }, " hello ", "hello"],
  ["a number", { type: "number" }, "1.5", 1.5],
  ["a whole number", { type: "integer", minimum: 1 }, "3", 3],
  ["a yes", { type: "boolean" }, "Y", true],
  ["a no", { type: "boolean" }, "no", false],
  ["a choice by its number", COLOURS, "2", "g"],
  ["a choice by its value", COLOURS, "r", "r"],
  ["a choice by its title", COLOURS, "Green", "g"],
  ["a choice with titles", { type: "string", oneOf: [{ const: "x", title: "Ex" }] }, "1", "x"],
  [
    "several",
    { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
    "1, c,1",
    ["a", "c"],
  ],
  [
    "several with titles",
    { type: "array", items: { anyOf: [{ const: "a", title: "Ay" }] } },
    "Ay",
    ["a"],
  ],
  ["what is none of these", { type: "object" }, '{"a": [1]}', { a: [1] }],
  ["what has no type", {}, "null", null],
])("takes %s", (_what, schema, typed, value) => {
  verifies("MCP-5");
  expect(readField(fieldOf(schema), typed)).toEqual({ ok: true, value });
});

test.each<[string, JsonObject, string, RegExp]>([
  ["words for a number", { type: "number" }, "many", /takes a number/],
  ["a fraction for a whole number", { type: "integer" }, "1.5", /takes a whole number/],
  ["infinity", { type: "number" }, "Infinity", /takes a number/],
  ["maybe", { type: "boolean" }, "maybe", /y or n/],
  ["a number out of the list", COLOURS, "3", /3 is none of these/],
  ["number zero of a list", COLOURS, "0", /0 is none of these/],
  ["one wrong of several", { type: "array", items: { enum: ["a"] } }, "a,z", /z is none of these/],
  ["broken JSON", { type: "object" }, "{", /takes JSON/],
  ["less than the least", { type: "integer", minimum: 5 }, "3", /does not fit/],
  ["a text that is too long", { type: "string", maxLength: 2 }, "abc", /does not fit/],
  ["what is no address", { type: "string", format: "email" }, "nobody", /does not fit/],
  [
    "too few",
    { type: "array", minItems: 2, items: { type: "string", enum: ["a", "b"] } },
    "a",
    /does not fit/,
  ],
])("says why it does not take %s", (_what, schema, typed, message) => {
  verifies("MCP-5");
  const read = readField(fieldOf(schema), typed);
  expect(read).toMatchObject({ ok: false, message: expect.stringMatching(message) as string });
});

test("an empty line is the default, nothing where nothing is needed, and else not enough", () => {
  verifies("MCP-5");
  expect(readField(fieldOf({ type: "string", default: "d" }, true), " ")).toEqual({
    ok: true,
    value: "d",
  });
  expect(readField(fieldOf({ type: "string" }), "")).toEqual({ ok: true, value: undefined });
  expect(readField(fieldOf({ type: "string" }, true), "")).toMatchObject({ ok: false });
});

test("any schema of a server has fields or none", () => {
  expect(formFields({})).toEqual([]);
  expect(formFields({ properties: [] })).toEqual([]);
  expect(formFields({ properties: { a: 1, b: { title: " ", enum: [1, null] } } })).toMatchObject([
    { name: "a", title: "a", kind: "JSON", required: false },
    { name: "b", title: "b", kind: "JSON", options: [] },
  ]);
});
