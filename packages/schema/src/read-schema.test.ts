import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { verifies } from "#laws";
import { lowerSchema, readSchema, type JsonSchema, type LoweredSchema } from "./index.ts";

function original(schema: unknown): JsonSchema {
  const read = readSchema(schema);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.original;
}

function lower(schema: unknown): LoweredSchema {
  return lowerSchema(original(schema));
}

function field(schema: unknown): unknown {
  const { kind, schema: result } = lower(z.object({ x: schema as z.ZodType }));
  return kind === "core" ? (result["properties"] as Record<string, unknown>)["x"] : kind;
}

function problems(schema: unknown): { pointer: string; message: string }[] {
  const read = readSchema(schema);
  return read.ok ? [] : read.problems.map(({ pointer, message }) => ({ pointer, message }));
}

describe("zod", () => {
  test("an object of ordinary fields is core as it is", () => {
    verifies("DEF-6", "SCHEMA-1");
    const schema = z.object({
      path: z.string().min(1).describe("Where"),
      limit: z.int().positive().max(100).optional(),
      mode: z.enum(["r", "w"]).default("r"),
      tags: z.array(z.string()).max(5),
      nested: z.object({ on: z.boolean() }),
    });
    expect(lower(schema)).toEqual({
      kind: "core",
      schema: {
        type: "object",
        properties: {
          path: { type: "string", minLength: 1, description: "Where" },
          limit: { type: "integer", exclusiveMinimum: 0, maximum: 100 },
          mode: { type: "string", enum: ["r", "w"], default: "r" },
          tags: { type: "array", items: { type: "string" }, maxItems: 5 },
          nested: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
        },
        required: ["path", "tags", "nested"],
      },
    });
  });

  test("literals, nullables, records, tuples and scalar unions lower", () => {
    verifies("DEF-6", "SCHEMA-2", "SCHEMA-3");
    expect(field(z.literal("a"))).toEqual({ type: "string", enum: ["a"] });
    expect(field(z.literal([1, "a"]))).toEqual({ type: ["integer", "string"], enum: [1, "a"] });
    expect(field(z.string().nullable())).toEqual({ type: ["string", "null"] });
    expect(field(z.enum(["a", "b"]).nullable())).toEqual({
      type: ["string", "null"],
      enum: ["a", "b", null],
    });
    expect(field(z.object({ a: z.string() }).nullable())).toMatchObject({
      type: ["object", "null"],
    });
    expect(field(z.union([z.string(), z.number().min(2)]))).toEqual({
      type: ["string", "number"],
      minimum: 2,
    });
    expect(field(z.record(z.string(), z.number()))).toEqual({
      type: "object",
      additionalProperties: { type: "number" },
    });
    expect(field(z.record(z.enum(["a", "b"]), z.number()))).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
      additionalProperties: false,
    });
    expect(field(z.tuple([z.number(), z.number()]))).toEqual({
      type: "array",
      items: { type: "number" },
      minItems: 2,
      maxItems: 2,
    });
    expect(field(z.any())).toEqual({});
    expect(field(z.string().startsWith("a").includes("b"))).toMatchObject({ type: "string" });
  });

  test("what cannot be lowered is refused with its pointer", () => {
    verifies("SCHEMA-2");
    const shapes = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), r: z.number() }),
      z.object({ kind: z.literal("square"), a: z.number() }),
    ]);
    expect(lower(z.object({ shape: shapes }))).toMatchObject({
      kind: "extended",
      outside: [{ pointer: "/properties/shape/oneOf", keyword: "oneOf" }],
    });
    expect(lower(z.object({ pair: z.tuple([z.string(), z.number()]) }))).toMatchObject({
      kind: "extended",
      outside: [{ pointer: "/properties/pair/prefixItems", keyword: "prefixItems" }],
    });
    expect(lower(z.object({ step: z.number().multipleOf(5) }))).toMatchObject({
      outside: [{ pointer: "/properties/step/multipleOf" }],
    });
  });

  test("shared schemas are written out, recursive ones stay references", () => {
    verifies("SCHEMA-3");
    const address = z.object({ street: z.string() }).meta({ id: "Address" });
    expect(lower(z.object({ home: address, work: address })).kind).toBe("core");
    const node = z.object({
      name: z.string(),
      get kids() {
        return z.array(node);
      },
    });
    expect(lower(node)).toMatchObject({ kind: "extended", outside: [{ keyword: "$ref" }] });
  });

  test("every named format can be registered, and its library still enforces it", async () => {
    verifies("DEF-6", "SCHEMA-8");
    const formats = {
      email: z.email(),
      url: z.url(),
      uuid: z.uuid(),
      datetime: z.iso.datetime(),
      date: z.iso.date(),
      time: z.iso.time(),
      duration: z.iso.duration(),
      ipv4: z.ipv4(),
      ipv6: z.ipv6(),
      cidr: z.cidrv4(),
      hostname: z.hostname(),
      jwt: z.jwt(),
      e164: z.e164(),
      ulid: z.ulid(),
      nanoid: z.nanoid(),
      emoji: z.emoji(),
    };
    for (const [name, schema] of Object.entries(formats)) {
      const read = readSchema(z.object({ x: schema }));
      if (!read.ok) throw new Error(name);
      expect([name, lowerSchema(read.original).kind]).toEqual([name, "core"]);
      expect(await read.check?.({ x: " " })).toHaveProperty("issues");
    }
  });

  test("an author's own lookahead is not dropped", () => {
    verifies("SCHEMA-8");
    expect(lower(z.object({ x: z.string().regex(/a(?=b)/) }))).toMatchObject({
      kind: "extended",
      outside: [{ pointer: "/properties/x/pattern" }],
    });
  });

  test("keeps its own validation, where refinements, defaults and transforms live", async () => {
    verifies("DEF-6");
    const schema = z
      .object({ a: z.string().transform(Number), b: z.number().default(2) })
      .refine(({ a }) => a !== 7, { message: "not seven", path: ["a"] });
    const read = readSchema(schema);
    if (!read.ok || read.check === undefined) throw new Error("unreadable");
    expect(read.original["properties"]).toMatchObject({ a: { type: "string" } });
    expect(await read.check({ a: "3" })).toEqual({ value: { a: 3, b: 2 } });
    expect(await read.check({ a: "7" })).toMatchObject({ issues: [{ message: "not seven" }] });
  });

  test("metadata reaches the JSON Schema", () => {
    verifies("REDACT-2");
    const schema = z.object({ key: z.string().meta({ "x-sensitive": true }) });
    expect(original(schema)["properties"]).toEqual({
      key: { type: "string", "x-sensitive": true },
    });
  });

  test("a type that JSON does not have is a problem, not an exception", () => {
    verifies("DEF-6");
    for (const schema of [z.date(), z.bigint(), z.set(z.string()), z.nan()]) {
      expect(problems(z.object({ x: schema }))).toEqual([
        { pointer: "", message: expect.stringContaining("cannot be represented") as string },
      ]);
    }
  });
});

describe("other libraries", () => {
  test("valibot through its JSON Schema companion", async () => {
    verifies("DEF-6");
    const schema = toStandardJsonSchema(
      v.object({
        a: v.pipe(v.string(), v.minLength(2)),
        b: v.optional(v.picklist(["x", "y"])),
        c: v.nullable(v.number()),
      }),
    );
    expect(lower(schema)).toMatchObject({
      kind: "core",
      schema: { properties: { c: { type: ["number", "null"] } }, required: ["a", "c"] },
    });
    const read = readSchema(schema);
    expect(read.ok && (await read.check?.({ a: "q", c: null }))).toHaveProperty("issues");
  });

  test("arktype, whose schemas are functions", () => {
    verifies("DEF-6");
    const schema = type({
      a: "string > 2",
      "b?": "'x' | 'y'",
      c: "number | null",
      d: "string.uuid",
    });
    expect(lower(schema)).toMatchObject({
      kind: "core",
      schema: {
        properties: { b: { type: "string", enum: ["x", "y"] }, c: { type: ["number", "null"] } },
        required: ["a", "c", "d"],
      },
    });
  });

  test("one that cannot emit JSON Schema fails with what to do", () => {
    verifies("DEF-6");
    expect(problems(v.object({ a: v.string() }))).toEqual([
      { pointer: "", message: expect.stringContaining("toStandardJsonSchema") as string },
    ]);
  });

  test("one that only knows an older draft is asked for that", () => {
    verifies("DEF-6");
    const input = ({ target }: { target: string }): Record<string, unknown> => {
      if (target !== "draft-07") throw new Error(`no ${target}`);
      return { type: "object", definitions: {} };
    };
    expect(original({ "~standard": { version: 1, vendor: "x", jsonSchema: { input } } })).toEqual({
      type: "object",
      definitions: {},
    });
  });
});

describe("plain JSON Schema", () => {
  test("is copied and frozen, so that no one can change it afterwards", () => {
    verifies("DEF-6");
    const given = { type: "object", properties: { a: { type: "string" } }, title: undefined };
    const read = original(given);
    given.properties.a.type = "number";
    expect(read).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect(Object.isFrozen(read["properties"])).toBe(true);
  });

  test("may come from another realm's prototypes or from none", () => {
    verifies("DEF-6");
    const given = Object.assign(Object.create(null) as object, { type: "object" });
    expect(original(given)).toEqual({ type: "object" });
    expect(original(true)).toEqual({});
  });

  test("that is malformed is refused with pointer and reason", () => {
    verifies("SCHEMA-2");
    const malformed: [JsonSchema, string][] = [
      [{ type: "int" }, "/type"],
      [{ type: [] }, "/type"],
      [{ properties: ["a"] }, "/properties"],
      [{ properties: { a: { required: true } } }, "/properties/a/required"],
      [{ properties: { "a/b": { items: "string" } } }, "/properties/a~1b/items"],
      [{ properties: { a: "string" } }, "/properties"],
      [{ anyOf: [] }, "/anyOf"],
      [{ minLength: -1 }, "/minLength"],
      [{ minimum: "3" }, "/minimum"],
      [{ pattern: 5 }, "/pattern"],
      [{ $ref: "https://example.com/a.json" }, "/$ref"],
      [{ items: { $ref: "#/$defs/none" } }, "/items/$ref"],
    ];
    for (const [schema, pointer] of malformed) {
      expect(problems(schema).map((problem) => problem.pointer)).toEqual([pointer]);
    }
  });

  test("that no JSON could hold is refused: functions, classes, cycles, endless depth or size", () => {
    verifies("SCHEMA-2");
    const cyclic: Record<string, unknown> = { type: "object" };
    cyclic["properties"] = { self: cyclic };
    let deep: JsonSchema = {};
    for (let level = 0; level < 500; level += 1) deep = { items: deep };
    let shared: JsonSchema = {};
    for (let level = 0; level < 60; level += 1) shared = { anyOf: [shared, shared] };
    const many = {
      properties: Object.fromEntries(Array.from({ length: 6_000 }, (_, i) => [`p${i}`, {}])),
    };
    const cases: [unknown, RegExp][] = [
      [undefined, /is an object/],
      [null, /is an object/],
      ["{}", /is an object/],
      [[], /is an object/],
      [() => ({}), /is an object/],
      [new Map(), /is an object/],
      [{ default: new Date(0) }, /instance of Date is not JSON/],
      [{ default: 1n }, /bigint is not JSON/],
      [{ default: Number.NaN }, /not a JSON number/],
      [{ title: () => "x" }, /function is not JSON/],
      [cyclic, /contains itself/],
      [deep, /deeper than/],
      [shared, /deeper than|larger than/],
      [{ description: "x".repeat(2_000_000) }, /larger than/],
      [many, /more than/],
      [JSON.parse('{"properties":{"__proto__":{}}}'), /__proto__/],
    ];
    for (const [schema, message] of cases) {
      expect(problems(schema)[0]?.message).toMatch(message);
    }
  });

  test("that throws while it is read is refused", () => {
    verifies("SCHEMA-2");
    const thrower = {
      get type() {
        throw "not even an error";
      },
    };
    expect(problems(thrower)[0]?.message).toContain("not even an error");
    const emitter = (thrown: unknown) => ({
      "~standard": {
        version: 1,
        vendor: "x",
        jsonSchema: {
          input: () => {
            throw thrown;
          },
        },
      },
    });
    expect(problems(emitter(new Error("boom")))[0]?.message).toContain("boom");
    expect(problems(emitter(Object.create(null)))).toHaveLength(1);
    expect(problems(emitter(undefined))).toHaveLength(1);
  });

  test("with sloppy annotations or printed nulls is still a schema", () => {
    verifies("SCHEMA-3");
    const schema = {
      type: "object",
      title: null,
      description: 5,
      examples: "one",
      required: null,
      properties: { a: { type: "string", enum: null, default: null } },
    };
    expect(lower(schema)).toEqual({
      kind: "core",
      schema: { type: "object", properties: { a: { type: "string", default: null } } },
    });
  });
});
