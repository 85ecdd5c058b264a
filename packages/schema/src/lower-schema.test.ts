import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { compileSchema, listKeywords, lowerSchema, readSchema, type JsonSchema } from "./index.ts";

/** The lowered form of one property's schema. */
function lowered(schema: unknown, more: JsonSchema = {}): unknown {
  const result = lowerSchema({ type: "object", properties: { x: schema }, ...more });
  return (result.schema["properties"] as Record<string, unknown>)["x"];
}

function outside(schema: unknown, more: JsonSchema = {}): string[] {
  const result = lowerSchema({ type: "object", properties: { x: schema }, ...more });
  return result.kind === "core" ? [] : result.outside.map(({ pointer }) => pointer);
}

describe("the core subset", () => {
  test("takes everything SCHEMA-1 names and answers the schema itself", () => {
    verifies("SCHEMA-1");
    const schema: JsonSchema = {
      type: "object",
      title: "Everything",
      description: "One of each",
      properties: {
        s: { type: "string", format: "uri", pattern: "^a", minLength: 1, maxLength: 9 },
        n: { type: "number", minimum: 0, maximum: 9, exclusiveMinimum: -1, exclusiveMaximum: 10 },
        i: { type: "integer", default: 3, examples: [1, 2], deprecated: true },
        b: { type: ["boolean", "null"] },
        e: { type: "string", enum: ["a", "b"] },
        a: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: 3,
          uniqueItems: true,
        },
        o: { type: "object", properties: { p: { type: "string" } }, additionalProperties: false },
        m: { type: "object", additionalProperties: { type: "number" } },
        u: {},
      },
      required: ["s"],
      additionalProperties: true,
    };
    expect(lowerSchema(schema)).toEqual({ kind: "core", schema });
    expect(lowerSchema(schema).schema).toBe(schema);
  });

  test("refuses each keyword outside with its own pointer", () => {
    verifies("SCHEMA-2");
    expect(outside({ oneOf: [{ type: "object" }, { type: "array" }] })).toEqual([
      "/properties/x/oneOf",
    ]);
    expect(outside({ anyOf: [{ type: "object" }, { type: "string" }] })).toEqual([
      "/properties/x/anyOf",
    ]);
    expect(outside({ allOf: [{ type: "object" }, { type: "string" }] })).toEqual([
      "/properties/x/allOf",
    ]);
    expect(outside({ $ref: "#" })).toEqual(["/properties/x/$ref"]);
    expect(
      outside(JSON.parse('{"if":{"type":"string"},"then":{"minLength":1},"else":{}}')),
    ).toEqual(["/properties/x/if", "/properties/x/then", "/properties/x/else"]);
    expect(outside({ patternProperties: { "^a": {} } })).toEqual([
      "/properties/x/patternProperties",
    ]);
    expect(outside({ multipleOf: 5 })).toEqual(["/properties/x/multipleOf"]);
    expect(outside({ minProperties: 1 })).toEqual(["/properties/x/minProperties"]);
    expect(outside({ not: { type: "string" } })).toEqual(["/properties/x/not"]);
    expect(outside({ contains: { type: "string" } })).toEqual(["/properties/x/contains"]);
    expect(outside({ dependentRequired: { a: ["b"] } })).toEqual([
      "/properties/x/dependentRequired",
    ]);
    expect(outside({ minLenght: 3 })).toEqual(["/properties/x/minLenght"]);
    expect(outside({ "x/y~z": 1 })).toEqual(["/properties/x/x~1y~0z"]);
    expect(
      outside({ type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }),
    ).toEqual(["/properties/x/prefixItems"]);
  });

  test("points into the definition when the keyword is there", () => {
    verifies("SCHEMA-2");
    const $defs = { T: { type: "number", multipleOf: 2 } };
    expect(outside({ $ref: "#/$defs/T" }, { $defs })).toEqual(["/$defs/T/multipleOf"]);
  });

  test("refuses a pattern that no linear engine can run", () => {
    verifies("SCHEMA-2", "SCHEMA-8");
    expect(outside({ type: "string", pattern: "(a)\\1" })).toEqual(["/properties/x/pattern"]);
    expect(outside({ type: "string", pattern: "a(?=b)" })).toEqual(["/properties/x/pattern"]);
    expect(outside({ type: "string", pattern: "^(?=.*\\d)[a-z\\d]+$" })).toEqual([]);
    const schema = { type: "object", properties: { x: { pattern: "(?<=a)b" } } };
    expect(lowerSchema(schema)).toMatchObject({
      kind: "extended",
      outside: [
        {
          pointer: "/properties/x/pattern",
          keyword: "pattern",
          message: expect.stringContaining("lookbehind") as string,
        },
      ],
    });
  });

  test("needs an object at its root, and takes a root that leaves it open as one", () => {
    verifies("SCHEMA-1");
    expect(lowerSchema({})).toEqual({ kind: "core", schema: { type: "object" } });
    expect(lowerSchema({ properties: { a: { type: "string" } } })).toEqual({
      kind: "core",
      schema: { type: "object", properties: { a: { type: "string" } } },
    });
    expect(lowerSchema({ type: ["object", "null"] }).schema).toEqual({ type: "object" });
    expect(lowerSchema({ type: "string" })).toMatchObject({
      kind: "extended",
      outside: [{ pointer: "/type", keyword: "type" }],
    });
    expect(lowerSchema({ not: {} })).toMatchObject({ kind: "extended" });
  });

  test("accepts unused annotations and omits them", () => {
    verifies("SCHEMA-1", "REDACT-2");
    expect(
      lowerSchema({
        $schema: "http://json-schema.org/draft-07/schema#",
        $id: "urn:x",
        $comment: "hm",
        type: "object",
        properties: {
          k: { type: "string", writeOnly: true, readOnly: false, "x-sensitive": true },
        },
        $defs: { unused: { not: {} } },
      }),
    ).toEqual({
      kind: "core",
      schema: { type: "object", properties: { k: { type: "string" } } },
    });
  });
});

describe("lowering loses nothing", () => {
  test("turns a const into an enum", () => {
    verifies("SCHEMA-3");
    expect(lowered({ const: "a" })).toEqual({ type: "string", enum: ["a"] });
    expect(lowered({ const: null })).toEqual({ type: ["null"], enum: [null] });
    expect(lowered({ type: "number", const: 1 })).toEqual({ type: "number", enum: [1] });
    expect(outside({ const: "a", enum: ["b"] })).toEqual(["/properties/x/const"]);
  });

  test("folds alternatives that are constants into one enum, with what was said about each", () => {
    verifies("SCHEMA-3");
    expect(lowered({ anyOf: [{ const: "a" }, { enum: ["b", "a"] }] })).toEqual({
      type: "string",
      enum: ["a", "b"],
    });
    expect(
      lowered({
        description: "How",
        oneOf: [
          { const: "fast", title: "Fast", description: "Quick and rough" },
          { const: "good", title: "Good" },
        ],
      }),
    ).toEqual({
      type: "string",
      enum: ["fast", "good"],
      description: 'How\n"fast": Quick and rough\n"good": Good',
    });
    expect(lowered({ anyOf: [{ const: "auto" }, { type: "boolean" }, { type: "null" }] })).toEqual({
      type: ["string", "boolean", "null"],
      enum: ["auto", true, false, null],
    });
  });

  test("keeps a oneOf whose alternatives overlap", () => {
    verifies("SCHEMA-3");
    expect(outside({ oneOf: [{ const: "a" }, { enum: ["a", "b"] }] })).toEqual([
      "/properties/x/oneOf",
    ]);
    expect(outside({ oneOf: [{ type: "integer" }, { type: "number" }] })).toEqual([
      "/properties/x/oneOf",
    ]);
    expect(lowered({ anyOf: [{ type: "integer" }, { type: "number" }] })).toEqual({
      type: "number",
    });
  });

  test("folds null into the type list", () => {
    verifies("SCHEMA-3");
    expect(
      lowered({ anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }], default: null }),
    ).toEqual({ type: ["string", "null"], maxLength: 3, default: null });
    expect(
      lowered({
        oneOf: [{ type: "null" }, { type: "object", properties: { a: { type: "string" } } }],
      }),
    ).toEqual({ type: ["object", "null"], properties: { a: { type: "string" } } });
    expect(lowered({ anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] })).toEqual({
      type: ["string", "null"],
      enum: ["a", null],
    });
    expect(lowered({ type: "string", nullable: true })).toEqual({ type: ["string", "null"] });
    expect(lowered({ type: "null" })).toEqual({ type: ["null"] });
  });

  test("folds scalars of different types into a type list", () => {
    verifies("SCHEMA-3");
    expect(
      lowered({
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "number", minimum: 0 },
        ],
      }),
    ).toEqual({ type: ["string", "number"], minLength: 1, minimum: 0 });
    expect(
      outside({
        anyOf: [
          { type: "string", minLength: 1 },
          { type: "string", format: "uri" },
        ],
      }),
    ).toEqual(["/properties/x/anyOf"]);
    expect(outside({ anyOf: [{ type: "string" }, { type: "array" }] })).toEqual([
      "/properties/x/anyOf",
    ]);
  });

  test("lets an open type take in its own constants, which stay as examples", () => {
    verifies("SCHEMA-3");
    expect(lowered({ anyOf: [{ enum: ["a", "b"] }, { type: "string" }] })).toEqual({
      type: "string",
      examples: ["a", "b"],
    });
  });

  test("joins texts given by patterns and constants into one pattern", () => {
    verifies("SCHEMA-3");
    expect(lowered({ anyOf: [{ type: "string", pattern: "^a+$" }, { const: "b.c" }] })).toEqual({
      type: "string",
      pattern: "(?:^a+$)|^(?:b\\.c)$",
      examples: ["b.c"],
    });
  });

  test("writes references out, wherever in the document they lead", () => {
    verifies("SCHEMA-3");
    const more = {
      $defs: { Name: { type: "string", minLength: 1 }, Alias: { $ref: "#/$defs/Name" } },
      definitions: { "a/b": { $anchor: "here", type: "integer" } },
    };
    expect(lowered({ $ref: "#/$defs/Alias", maxLength: 5 }, more)).toEqual({
      type: "string",
      minLength: 1,
      maxLength: 5,
    });
    expect(lowered({ $ref: "#/definitions/a~1b" }, more)).toEqual({ type: "integer" });
    expect(lowered({ $ref: "#/definitions/a%7E1b" }, more)).toEqual({ type: "integer" });
    expect(lowered({ $ref: "#here" }, more)).toEqual({ type: "integer" });
    expect(lowered({ $ref: "urn:root#/$defs/Name" }, { ...more, $id: "urn:root" })).toMatchObject({
      type: "string",
    });
    expect(
      lowered(
        { $ref: "inner" },
        { $defs: { I: { $id: "inner", $ref: "#/$defs/T", $defs: { T: { type: "boolean" } } } } },
      ),
    ).toEqual({ type: "boolean" });
  });

  test("keeps both descriptions of a reference", () => {
    verifies("SCHEMA-3");
    const $defs = { A: { type: "string", description: "An address" } };
    expect(lowered({ $ref: "#/$defs/A", description: "Where to" }, { $defs })).toEqual({
      type: "string",
      description: "Where to\nAn address",
    });
  });

  test("keeps a recursive schema as references to definitions", () => {
    verifies("SCHEMA-3");
    const result = lowerSchema({
      type: "object",
      properties: { tree: { $ref: "#/definitions/Node" } },
      definitions: {
        Node: {
          type: "object",
          properties: {
            kind: { const: "n" },
            kids: { type: "array", items: { $ref: "#/definitions/Node" } },
          },
        },
      },
    });
    expect(result).toEqual({
      kind: "extended",
      outside: [
        expect.objectContaining({ pointer: "/definitions/Node/properties/kids/items/$ref" }),
        expect.objectContaining({ pointer: "/properties/tree/$ref" }),
      ],
      schema: {
        type: "object",
        properties: { tree: { $ref: "#/$defs/Node" } },
        $defs: {
          Node: {
            type: "object",
            properties: {
              kind: { type: "string", enum: ["n"] },
              kids: { type: "array", items: { $ref: "#/$defs/Node" } },
            },
          },
        },
      },
    });
  });

  test("merges allOf, with the tighter bound of each pair", () => {
    verifies("SCHEMA-3");
    expect(
      lowered({
        allOf: [
          { type: "object", properties: { a: { type: "number", minimum: 1 } }, required: ["a"] },
          {
            properties: { a: { type: "integer", minimum: 3 }, b: { type: "string" } },
            required: ["b"],
          },
        ],
      }),
    ).toEqual({
      type: "object",
      properties: { a: { type: "integer", minimum: 3 }, b: { type: "string" } },
      required: ["a", "b"],
    });
    expect(lowered({ allOf: [{ enum: ["a", "b"] }, { enum: ["b", "c"] }] })).toEqual({
      type: "string",
      enum: ["b"],
    });
    expect(lowered({ type: "string", allOf: [{ pattern: "a" }, { pattern: "b" }] })).toEqual({
      type: "string",
      pattern: "^(?=[\\s\\S]*?(?:a))(?=[\\s\\S]*?(?:b))",
    });
  });

  test("heeds that additionalProperties sees only its own schema's fields", () => {
    verifies("SCHEMA-3");
    expect(
      lowered({
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
          { properties: { b: { type: "string" } } },
        ],
      }),
    ).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      additionalProperties: false,
    });
    expect(
      lowered({
        allOf: [
          { type: "object", additionalProperties: { type: "number" } },
          { properties: { b: { minimum: 3 } } },
        ],
      }),
    ).toEqual({
      type: "object",
      additionalProperties: { type: "number" },
      properties: { b: { type: "number", minimum: 3 } },
    });
  });

  test("says records, tuples and unevaluated fields in core keywords where that is exact", () => {
    verifies("SCHEMA-3");
    expect(
      lowered({
        type: "object",
        propertyNames: { type: "string" },
        additionalProperties: { type: "number" },
      }),
    ).toEqual({ type: "object", additionalProperties: { type: "number" } });
    expect(
      lowered({
        type: "object",
        propertyNames: { enum: ["a", "b"] },
        additionalProperties: { type: "number" },
      }),
    ).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      additionalProperties: false,
    });
    expect(
      lowered({
        type: "array",
        prefixItems: [{ type: "number" }, { type: "number" }],
        items: false,
      }),
    ).toEqual({ type: "array", items: { type: "number" }, maxItems: 2 });
    expect(
      lowered({
        type: "object",
        allOf: [{ properties: { a: {} } }],
        unevaluatedProperties: { not: {} },
      }),
    ).toEqual({ type: "object", properties: { a: {} }, additionalProperties: false });
    expect(
      lowered({ type: "object", properties: { a: {}, no: false }, additionalProperties: false }),
    ).toEqual({ type: "object", properties: { a: {} }, additionalProperties: false });
  });

  test("reads older drafts and the nulls that servers print", () => {
    verifies("SCHEMA-3");
    expect(lowered({ type: "number", minimum: 1, exclusiveMinimum: true })).toEqual({
      type: "number",
      exclusiveMinimum: 1,
    });
    expect(lowered({ type: "array", items: [{ type: "string" }], additionalItems: false })).toEqual(
      {
        type: "array",
        items: { type: "string" },
        maxItems: 1,
      },
    );
    expect(
      lowered({ type: "object", properties: null, required: null, description: null, enum: null }),
    ).toEqual({ type: "object" });
  });

  test("names the keywords a schema uses, for model profiles", () => {
    verifies("SCHEMA-5");
    expect([
      ...listKeywords({
        type: "object",
        properties: { a: { type: ["string", "number", "null"] }, $ref: { type: "string" } },
        $defs: { constructor: { multipleOf: 2 } },
      }),
    ]).toEqual(["type", "properties", "$defs", "type:null", "type:list", "multipleOf"]);
  });
});

describe("schemas that mean harm", () => {
  test("a schema that doubles with every reference stays small or is answered as it came", () => {
    verifies("SCHEMA-3");
    const bomb = (build: (ref: JsonSchema) => JsonSchema): JsonSchema => {
      const $defs: Record<string, unknown> = { n60: { type: "string" } };
      for (let level = 0; level < 60; level += 1)
        $defs[`n${level}`] = build({ $ref: `#/$defs/n${level + 1}` });
      return { type: "object", properties: { x: { $ref: "#/$defs/n0" } }, $defs };
    };
    expect(lowerSchema(bomb((ref) => ({ allOf: [ref, ref] }))).kind).toBe("core");
    const wide = bomb((ref) => ({ type: "object", properties: { a: ref, b: ref } }));
    expect(lowerSchema(wide)).toMatchObject({ kind: "extended", outside: [{ pointer: "" }] });
    expect(lowerSchema(wide).schema).toBe(wide);
    const different = bomb((ref) => ({
      allOf: [
        { properties: { a: ref } },
        { properties: { a: ref, b: ref } },
        { properties: { b: ref } },
      ],
    }));
    expect(lowerSchema(different).kind).toBe("extended");
  });

  test("never throws, for any object", () => {
    verifies("SCHEMA-3");
    const cyclic: Record<string, unknown> = { type: "object" };
    cyclic["properties"] = { self: cyclic };
    let deep: JsonSchema = { type: "string" };
    for (let level = 0; level < 20_000; level += 1) deep = { type: "array", items: deep };
    const thrower = Object.defineProperty({ type: "object" }, "properties", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    for (const schema of [cyclic, deep, thrower]) {
      const result = lowerSchema(schema);
      expect(result.kind).toBe("extended");
      expect(result.schema).toBe(schema);
    }
    for (const schema of [
      { type: 5 },
      { properties: [] },
      { required: "a" },
      { anyOf: [] },
      { enum: [] },
      { items: 3 },
      { $ref: 7 },
      { $ref: "#/nowhere" },
      { $ref: "https://example.com/schema.json" },
    ]) {
      expect(lowerSchema({ type: "object", properties: { x: schema } }).kind).toBe("extended");
    }
  });

  test("a prototype's key in a schema changes no one's prototype", () => {
    verifies("SCHEMA-3");
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"a":{"const":1}}}',
    ) as JsonSchema;
    expect(readSchema(schema)).toMatchObject({
      ok: false,
      problems: [{ pointer: "/properties/__proto__" }],
    });
    const { schema: result } = lowerSchema(schema);
    expect(Object.getPrototypeOf(result["properties"])).toBe(Object.prototype);
  });
});

test("a union of constants that none of their own types takes allows no value, and costs the rest nothing", () => {
  verifies("SCHEMA-3");
  const impossible = {
    anyOf: [
      { type: "string", enum: [0] },
      { type: "number", enum: ["a"] },
    ],
  };
  const beside = { type: "object", properties: { x: { oneOf: [impossible, { type: "number" }] } } };
  expect(lowerSchema(beside)).toEqual({
    kind: "core",
    schema: { type: "object", properties: { x: { type: "number" } } },
  });
  const alone = lowerSchema({ type: "object", properties: { x: impossible } });
  expect(compileSchema(alone.schema)({}).ok).toBe(true);
  expect(compileSchema(alone.schema)({ x: 0 }).ok).toBe(false);
});
