import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { compileSchema, lowerSchema, readSchema, relaxSchema, type JsonSchema } from "./index.ts";

/** Schemas like those of common tool servers, with arguments that must and must not pass. */
type Fixture = {
  kind: "core" | "extended";
  schema: JsonSchema;
  yes: unknown[];
  no: unknown[];
};

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  ...more,
});

const fixtures: { [name: string]: Fixture } = {
  "no arguments, printed as an empty object": {
    kind: "core",
    schema: { type: "object" },
    yes: [{}, { anything: 1 }],
    no: [[]],
  },
  "no arguments, closed": {
    kind: "core",
    schema: object({}, { required: [], additionalProperties: false }),
    yes: [{}],
    no: [{ a: 1 }],
  },
  "a Go server's nulls": {
    kind: "core",
    schema: { type: "object", properties: null, required: null, additionalProperties: null },
    yes: [{}, { a: 1 }],
    no: [],
  },
  "an untyped root": {
    kind: "core",
    schema: { properties: { q: { type: "string" } }, required: ["q"] },
    yes: [{ q: "x" }],
    no: [{}, { q: 1 }],
  },
  "read a file": {
    kind: "core",
    schema: object(
      {
        path: { type: "string", description: "" },
        tail: { type: "number" },
        head: { type: "number" },
      },
      {
        required: ["path"],
        additionalProperties: false,
        $schema: "http://json-schema.org/draft-07/schema#",
      },
    ),
    yes: [{ path: "a", head: 3 }],
    no: [{}, { path: "a", lines: 3 }],
  },
  "edit a file": {
    kind: "core",
    schema: object(
      {
        path: { type: "string" },
        edits: {
          type: "array",
          items: object(
            { oldText: { type: "string" }, newText: { type: "string" } },
            { required: ["oldText", "newText"], additionalProperties: false },
          ),
        },
        dryRun: { type: "boolean", default: false },
      },
      { required: ["path", "edits"] },
    ),
    yes: [{ path: "a", edits: [{ oldText: "a", newText: "b" }] }],
    no: [
      { path: "a", edits: [{ oldText: "a" }] },
      { path: "a", edits: {} },
    ],
  },
  "required names listed twice": {
    kind: "core",
    schema: object({ a: { type: "string" } }, { required: ["a", "a"] }),
    yes: [{ a: "" }],
    no: [{}],
  },
  "fetch a page": {
    kind: "core",
    schema: object(
      {
        url: { type: "string", format: "uri", minLength: 1, title: "Url" },
        max_length: {
          type: "integer",
          exclusiveMinimum: 0,
          exclusiveMaximum: 1000000,
          default: 5000,
        },
        raw: { type: "boolean", default: false },
      },
      { required: ["url"], title: "Fetch" },
    ),
    yes: [{ url: "https://example.com/" }],
    no: [{ url: "example" }, { url: "https://example.com/", max_length: 0 }],
  },
  "pydantic: optional with a default of null": {
    kind: "core",
    schema: object({
      name: { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "Name" },
    }),
    yes: [{ name: null }, { name: "x" }, {}],
    no: [{ name: 5 }],
  },
  "pydantic: an enum through $defs": {
    kind: "core",
    schema: object(
      { level: { $ref: "#/$defs/Level", default: "info" } },
      { $defs: { Level: { enum: ["debug", "info"], title: "Level", type: "string" } } },
    ),
    yes: [{ level: "debug" }],
    no: [{ level: "warn" }],
  },
  "pydantic: a single allOf around a reference": {
    kind: "core",
    schema: object(
      { where: { allOf: [{ $ref: "#/definitions/Where" }], description: "Where to look" } },
      { definitions: { Where: object({ city: { type: "string" } }, { required: ["city"] }) } },
    ),
    yes: [{ where: { city: "x" } }],
    no: [{ where: {} }, { where: null }],
  },
  "pydantic: nested models, lists and maps": {
    kind: "core",
    schema: object(
      {
        items: { type: "array", items: { $ref: "#/$defs/Item" } },
        labels: { additionalProperties: { type: "string" }, type: "object" },
      },
      {
        $defs: {
          Item: object(
            { id: { type: "integer" }, tag: { $ref: "#/$defs/Tag" } },
            { required: ["id"] },
          ),
          Tag: { anyOf: [{ const: "a" }, { const: "b" }] },
        },
        required: ["items"],
      },
    ),
    yes: [{ items: [{ id: 1, tag: "a" }], labels: { x: "y" } }],
    no: [{ items: [{ id: 1, tag: "c" }] }, { items: [], labels: { x: 1 } }],
  },
  "pydantic: a tagged union": {
    kind: "extended",
    schema: object(
      {
        shape: {
          discriminator: { propertyName: "kind", mapping: { c: "#/$defs/C", s: "#/$defs/S" } },
          oneOf: [{ $ref: "#/$defs/C" }, { $ref: "#/$defs/S" }],
        },
      },
      {
        $defs: {
          C: object({ kind: { const: "c" }, r: { type: "number" } }, { required: ["kind", "r"] }),
          S: object({ kind: { const: "s" }, a: { type: "number" } }, { required: ["kind", "a"] }),
        },
      },
    ),
    yes: [{ shape: { kind: "c", r: 1 } }],
    no: [{ shape: { kind: "c", a: 1 } }, { shape: { kind: "x" } }],
  },
  "a string or a list of strings": {
    kind: "extended",
    schema: object({
      paths: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    }),
    yes: [{ paths: "a" }, { paths: ["a"] }],
    no: [{ paths: [1] }, { paths: 1 }],
  },
  "a number or a string": {
    kind: "core",
    schema: object({
      id: {
        oneOf: [
          { type: "string", minLength: 1 },
          { type: "integer", minimum: 1 },
        ],
      },
    }),
    yes: [{ id: "a" }, { id: 1 }],
    no: [{ id: "" }, { id: 0 }, { id: 1.5 }, { id: null }],
  },
  "number or null, as a type list": {
    kind: "core",
    schema: object({ n: { type: ["number", "null"] } }),
    yes: [{ n: null }, { n: 1.5 }],
    no: [{ n: "1" }],
  },
  "OpenAPI: nullable": {
    kind: "core",
    schema: object({
      n: { type: "string", nullable: true, format: "date-time" },
      m: { nullable: true },
    }),
    yes: [{ n: null, m: 1 }, { n: "2025-01-31T12:00:00Z" }],
    no: [{ n: "soon" }, { n: 1 }],
  },
  "OpenAPI: an enum with null": {
    kind: "core",
    schema: object({ sort: { type: "string", nullable: true, enum: ["asc", "desc", null] } }),
    yes: [{ sort: null }, { sort: "asc" }],
    no: [{ sort: "up" }],
  },
  "OpenAPI: example instead of examples": {
    kind: "extended",
    schema: object({ q: { type: "string", example: "cats" } }),
    yes: [{ q: "dogs" }],
    no: [{ q: 1 }],
  },
  "OpenAPI: formats for numbers": {
    kind: "core",
    schema: object({
      a: { type: "integer", format: "int64" },
      b: { type: "number", format: "double" },
    }),
    yes: [{ a: 1, b: 1.5 }],
    no: [{ a: 1.5 }],
  },
  "OpenAPI: allOf with a base": {
    kind: "core",
    schema: {
      type: "object",
      allOf: [
        object({ id: { type: "string" } }, { required: ["id"] }),
        object({ name: { type: "string", maxLength: 5 } }, { required: ["name"] }),
      ],
    },
    yes: [{ id: "a", name: "b" }],
    no: [{ id: "a" }, { id: "a", name: "bbbbbb" }],
  },
  "an enum without a type": {
    kind: "core",
    schema: object({ mode: { enum: ["r", "w"] } }),
    yes: [{ mode: "r" }],
    no: [{ mode: "x" }, { mode: 1 }],
  },
  "an enum of mixed values": {
    kind: "core",
    schema: object({ v: { enum: ["auto", 0, 1, true, null] } }),
    yes: [{ v: "auto" }, { v: 0 }, { v: null }],
    no: [{ v: false }, { v: 2 }, { v: "0" }],
  },
  "constants with titles": {
    kind: "core",
    schema: object({
      priority: {
        oneOf: [
          { const: 1, title: "Urgent" },
          { const: 2, title: "High" },
        ],
      },
    }),
    yes: [{ priority: 1 }],
    no: [{ priority: 3 }, { priority: "1" }],
  },
  "an open list of suggestions": {
    kind: "core",
    schema: object({
      model: { anyOf: [{ type: "string" }, { enum: ["small", "large"], type: "string" }] },
    }),
    yes: [{ model: "small" }, { model: "mine" }],
    no: [{ model: 1 }],
  },
  "a free-form object": {
    kind: "core",
    schema: object({ body: { type: "object", additionalProperties: {} }, any: {} }),
    yes: [{ body: { a: [1] }, any: null }],
    no: [{ body: [] }],
  },
  "a map of maps": {
    kind: "core",
    schema: object({
      env: {
        type: "object",
        additionalProperties: { type: "object", additionalProperties: { type: "string" } },
      },
    }),
    yes: [{ env: { a: { b: "c" } } }],
    no: [{ env: { a: { b: 1 } } }],
  },
  "zod: a record": {
    kind: "core",
    schema: object({
      headers: {
        type: "object",
        propertyNames: { type: "string" },
        additionalProperties: { type: "string" },
      },
    }),
    yes: [{ headers: { a: "b" } }],
    no: [{ headers: { a: 1 } }],
  },
  "zod: integers with safe bounds": {
    kind: "core",
    schema: object({
      n: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 },
    }),
    yes: [{ n: 3 }],
    no: [{ n: 1e20 }, { n: 0.5 }],
  },
  "zod 3: boolean exclusiveMinimum": {
    kind: "core",
    schema: object({ n: { type: "number", exclusiveMinimum: true, minimum: 0 } }),
    yes: [{ n: 0.1 }],
    no: [{ n: 0 }],
  },
  "zod 3: a tuple as a list of items": {
    kind: "core",
    schema: object({
      range: {
        type: "array",
        minItems: 2,
        maxItems: 2,
        items: [{ type: "number" }, { type: "number" }],
      },
    }),
    yes: [{ range: [1, 2] }],
    no: [{ range: [1] }, { range: [1, "2"] }, { range: [1, 2, 3] }],
  },
  "a tuple of different items": {
    kind: "extended",
    schema: object({
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false },
    }),
    yes: [{ pair: ["a", 1] }, { pair: [] }],
    no: [{ pair: [1] }, { pair: ["a", 1, 2] }],
  },
  "TypeBox: literals in a union": {
    kind: "core",
    schema: object({
      unit: {
        anyOf: [
          { const: "c", type: "string" },
          { const: "f", type: "string" },
        ],
      },
    }),
    yes: [{ unit: "c" }],
    no: [{ unit: "k" }],
  },
  "TypeBox: a record by pattern": {
    kind: "extended",
    schema: object({
      map: { type: "object", patternProperties: { "^(.*)$": { type: "number" } } },
    }),
    yes: [{ map: { a: 1 } }],
    no: [{ map: { a: "1" } }],
  },
  "TypeSpec: unevaluated fields": {
    kind: "core",
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "Args.json",
      type: "object",
      properties: { a: { type: "string" } },
      allOf: [{ $ref: "Base.json" }],
      unevaluatedProperties: { not: {} },
      $defs: {
        "Base.json": { $id: "Base.json", type: "object", properties: { b: { type: "string" } } },
      },
    },
    yes: [{ a: "x", b: "y" }],
    no: [{ c: 1 }, { b: 1 }],
  },
  "GitHub: a pattern and lengths": {
    kind: "core",
    schema: object({
      owner: { type: "string", pattern: "^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,38})$" },
      sha: { type: "string", pattern: "^[0-9a-f]{40}$" },
      perPage: { type: "number", minimum: 1, maximum: 100 },
    }),
    yes: [{ owner: "me", perPage: 1 }],
    no: [{ owner: "-" }, { sha: "abc" }, { perPage: 101 }],
  },
  "a password rule with lookaheads": {
    kind: "core",
    schema: object({ pw: { type: "string", pattern: "^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,}$" } }),
    yes: [{ pw: "Abcdefg1" }],
    no: [{ pw: "abcdefg1" }, { pw: "Abcdefgh" }, { pw: "Abc def1" }, { pw: "Ab1" }],
  },
  "a pattern that cannot be run safely": {
    kind: "extended",
    schema: object({ w: { type: "string", pattern: "^(\\w+) \\1$" } }),
    yes: [{ w: "a a" }, { w: "a b" }],
    no: [{ w: 1 }],
  },
  "at least one of two fields": {
    kind: "extended",
    schema: object(
      { id: { type: "string" }, name: { type: "string" } },
      { anyOf: [{ required: ["id"] }, { required: ["name"] }] },
    ),
    yes: [{ id: "a" }, { name: "b" }],
    no: [{}, { id: 1 }],
  },
  "fields that depend on another": {
    kind: "extended",
    schema: object({ a: {}, b: {} }, { dependencies: { a: ["b"] } }),
    yes: [{ b: 1 }, { a: 1, b: 2 }],
    no: [{ a: 1 }],
  },
  "if, then, else": {
    kind: "extended",
    schema: object(
      { kind: { enum: ["a", "b"] } },
      JSON.parse(
        '{"if":{"properties":{"kind":{"const":"a"}},"required":["kind"]},"then":{"required":["x"]},"else":{"required":["y"]}}',
      ) as JsonSchema,
    ),
    yes: [
      { kind: "a", x: 1 },
      { kind: "b", y: 1 },
    ],
    no: [{ kind: "a" }, {}],
  },
  "a filter that nests in itself": {
    kind: "extended",
    schema: object(
      { filter: { $ref: "#/$defs/Filter" } },
      {
        $defs: {
          Filter: {
            anyOf: [
              object(
                { and: { type: "array", items: { $ref: "#/$defs/Filter" } } },
                { required: ["and"] },
              ),
              object({ field: { type: "string" }, value: {} }, { required: ["field"] }),
            ],
          },
        },
      },
    ),
    yes: [{ filter: { and: [{ field: "a" }, { and: [] }] } }],
    no: [{ filter: { and: [{}] } }],
  },
  "a JSON value described recursively": {
    kind: "extended",
    schema: object({
      v: {
        anyOf: [
          { type: ["string", "number", "boolean", "null"] },
          { type: "array", items: { $ref: "#/properties/v" } },
          { type: "object", additionalProperties: { $ref: "#/properties/v" } },
        ],
      },
    }),
    yes: [{ v: { a: [1, null, { b: "c" }] } }],
    no: [],
  },
  "dates and ids": {
    kind: "core",
    schema: object({
      on: { type: "string", format: "date" },
      id: { type: "string", format: "uuid" },
      mail: { type: "string", format: "email" },
      cron: { type: "string", format: "cron" },
    }),
    yes: [
      { on: "2025-01-31", id: "123e4567-e89b-12d3-a456-426614174000", mail: "a@b.co", cron: "?" },
    ],
    no: [{ on: "31.1.2025" }, { id: "1" }, { mail: "a" }],
  },
  "unique tags": {
    kind: "core",
    schema: object({
      tags: { type: "array", items: { type: "string" }, uniqueItems: true, minItems: 1 },
    }),
    yes: [{ tags: ["a", "b"] }],
    no: [{ tags: ["a", "a"] }, { tags: [] }],
  },
  "steps of a number": {
    kind: "extended",
    schema: object({ volume: { type: "number", multipleOf: 0.5 } }),
    yes: [{ volume: 1.5 }],
    no: [{ volume: 1.2 }],
  },
  "a misspelled keyword": {
    kind: "extended",
    schema: object({ a: { type: "string", maxLenght: 3 } }),
    yes: [{ a: "abcdef" }],
    no: [{ a: 1 }],
  },
  "definitions under another name": {
    kind: "extended",
    schema: object(
      { a: { $ref: "#/components/schemas/A" } },
      { components: { schemas: { A: { type: "string" } } } },
    ),
    yes: [{ a: "x" }],
    no: [{ a: 1 }],
  },
  "a reference to another field": {
    kind: "core",
    schema: object({ from: { type: "string", maxLength: 3 }, to: { $ref: "#/properties/from" } }),
    yes: [{ from: "a", to: "b" }],
    no: [{ to: "abcd" }],
  },
  "a field that must not be there": {
    kind: "core",
    schema: object({ a: { type: "string" }, gone: { not: {} } }, { additionalProperties: false }),
    yes: [{ a: "x" }],
    no: [{ gone: 1 }],
  },
  "fields named like keywords and like members of every object": {
    kind: "core",
    schema: object({
      type: { type: "string" },
      properties: { type: "object", properties: { $ref: { type: "string" } } },
      constructor: { type: "string" },
      enum: { type: "array", items: { type: "string" } },
    }),
    yes: [{ type: "a", properties: { $ref: "b" } }, {}],
    no: [{ constructor: 1 }, { properties: { $ref: 2 } }, { enum: {} }],
  },
  "a browser's click": {
    kind: "core",
    schema: object(
      {
        element: { type: "string", description: "What to click, for people" },
        ref: { type: "string" },
        button: { type: "string", enum: ["left", "right", "middle"] },
        modifiers: {
          type: "array",
          items: { type: "string", enum: ["Alt", "Control", "Meta", "Shift"] },
          uniqueItems: false,
        },
      },
      { required: ["element", "ref"], additionalProperties: false },
    ),
    yes: [{ element: "e", ref: "r", modifiers: ["Alt", "Alt"] }],
    no: [{ element: "e" }, { element: "e", ref: "r", button: "up" }],
  },
};

test("there are enough of them", () => {
  verifies("SCHEMA-3");
  expect(Object.keys(fixtures).length).toBeGreaterThanOrEqual(50);
});

describe.each(Object.entries(fixtures))("%s", (_, { kind, schema, yes, no }) => {
  const read = readSchema(schema);
  const original: JsonSchema = read.ok ? read.original : {};
  const lowered = lowerSchema(original);

  test(`is readable and ${kind}`, () => {
    verifies("SCHEMA-1", "SCHEMA-2", "SCHEMA-3");
    expect(read).toMatchObject({ ok: true });
    expect(lowered).toMatchObject({ kind });
    expect(lowered.schema["type"]).toBe("object");
    expect(lowerSchema(lowered.schema).schema).toEqual(lowered.schema);
  });

  test("takes and refuses the same arguments before and after lowering", () => {
    verifies("SCHEMA-3", "SCHEMA-4");
    for (const one of [original, lowered.schema]) {
      const check = compileSchema(one);
      for (const value of yes) expect({ value, ...check(value) }).toEqual({ value, ok: true });
      for (const value of no) expect({ value, ok: check(value).ok }).toEqual({ value, ok: false });
    }
  });

  test("is offered to the portable profile, relaxed where it has to be, and loses nothing valid", () => {
    verifies("MCP-10");
    const relaxed = relaxSchema(lowered.schema, { extended: false });
    expect(relaxed?.pointers.length === 0).toBe(kind === "core");
    expect(lowerSchema(relaxed?.schema ?? {}).kind).toBe("core");
    const check = compileSchema(relaxed?.schema ?? {});
    for (const value of yes) expect({ value, ...check(value) }).toEqual({ value, ok: true });
  });
});
