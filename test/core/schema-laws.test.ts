// SCHEMA-1, 2, 3 and 5 from the outside: which schemas get in, and what a model is sent of them.

import {
  createKernel,
  createRegistry,
  lowerSchema,
  PORTABLE_PROFILE,
  RegistrationError,
  RunRefused,
  type AnyTool,
  type JsonSchema,
  type ModelProfile,
} from "@soong/core";
import { toolRecord } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { verifies } from "#laws";
import { declared, noRoom, server, thrownBy } from "./sources.ts";
import { allowAll, createWorld, reader, textOf, type WorldOptions } from "./world.ts";

const objectOf = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({
  type: "object",
  properties,
  ...rest,
});

/** Cannot be lowered: two shapes with nothing in common. */
const either = objectOf({
  target: {
    oneOf: [
      objectOf({ id: { type: "integer" } }, { required: ["id"] }),
      objectOf({ name: { type: "string" } }, { required: ["name"] }),
    ],
  },
});

const wide: ModelProfile = { ...PORTABLE_PROFILE, id: "wide", extended_schemas: true };
const picky: ModelProfile = { ...PORTABLE_PROFILE, id: "picky", refused_keywords: ["pattern"] };

function tool(name: string, input_schema: AnyTool["input_schema"], rest: Partial<AnyTool> = {}) {
  return reader(name, 0, { input_schema, ...rest });
}

function registered(given: AnyTool) {
  const registry = createRegistry();
  if (given.name.startsWith("mcp.")) registry.open(server("s", [given]));
  else registry.register(given);
  const found = registry.current(given.name);
  return found && toolRecord(found);
}

async function refusalOf(options: WorldOptions): Promise<RunRefused> {
  const outcome = await createWorld(options).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(RunRefused);
  return outcome as RunRefused;
}

describe("the core subset and what is accepted beside it", () => {
  it.each(["a.tool", "mcp.s.tool"])("is taken as it is from %s", (name) => {
    verifies("SCHEMA-1");
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "All of it",
      description: "Everything the subset names",
      deprecated: false,
      examples: [{ s: "abc" }],
      properties: {
        s: { type: "string", minLength: 1, maxLength: 9, pattern: "^a", format: "hostname" },
        n: { type: "number", minimum: 0, maximum: 10, exclusiveMinimum: -1, exclusiveMaximum: 11 },
        i: { type: "integer", enum: [1, 2], default: 1 },
        b: { type: "boolean" },
        l: {
          type: "array",
          items: objectOf({ deep: { type: "array", items: { type: "string" } } }),
          minItems: 0,
          maxItems: 3,
          uniqueItems: true,
        },
        o: objectOf({ x: { type: ["string", "null"] } }, { additionalProperties: false }),
        map: { type: "object", additionalProperties: { type: "number" } },
        any: {},
      },
      required: ["s"],
      additionalProperties: true,
    };
    expect(registered(tool(name, schema))).toMatchObject({ schema: "core", input_schema: schema });
  });

  it("checks what it says, field by field", async () => {
    verifies("SCHEMA-1", "SCHEMA-4");
    const schema = objectOf(
      {
        s: { type: "string", minLength: 2, maxLength: 3, pattern: "^a" },
        n: { type: "number", exclusiveMinimum: 0 },
        e: { enum: ["x", "y"] },
        l: { type: "array", items: { type: "integer" }, uniqueItems: true, maxItems: 2 },
        o: objectOf({ x: { type: ["string", "null"] } }, { additionalProperties: false }),
        any: {},
      },
      { required: ["s"] },
    );
    const world = await createWorld({ tools: [tool("a.tool", schema)] });
    const good = { s: "ab", n: 0.1, e: "y", l: [1, 2], o: { x: null }, any: [{}], more: 1 };
    const [fine] = await world.execute({ name: "a.tool", arguments: good });
    expect(fine?.status).toBe("succeeded");
    for (const [field, value] of Object.entries({
      s: "b",
      n: 0,
      e: "z",
      l: [1, 1],
      o: { y: 1 },
    })) {
      const wrong = { ...good, [field]: value };
      const [result] = await world.execute({ name: "a.tool", arguments: wrong });
      expect(result?.error?.code, field).toBe("invalid_arguments");
    }
  });
});

describe("a schema that cannot be brought inside", () => {
  const outside: [string, JsonSchema, string][] = [
    ["oneOf", either, "/properties/target/oneOf"],
    [
      "patternProperties",
      { type: "object", patternProperties: { "^x": {} } },
      "/patternProperties",
    ],
    ["if", objectOf({ a: {} }, { if: { required: ["a"] }, else: { required: ["b"] } }), "/if"],
    ["not", objectOf({ a: { not: { type: "string" } } }), "/properties/a/not"],
    ["a loop of $ref", objectOf({ kid: { $ref: "#" } }), "/properties/kid/$ref"],
    [
      "a tuple",
      objectOf({ t: { type: "array", prefixItems: [{ type: "string" }] } }),
      "/properties/t/prefixItems",
    ],
    ["a keyword nobody named", objectOf({ a: { colour: "red" } }), "/properties/a/colour"],
    ["multipleOf", objectOf({ n: { type: "number", multipleOf: 3 } }), "/properties/n/multipleOf"],
  ];

  it.each(outside)("with %s fails the start of our own, with its JSON pointer", (_, schema, at) => {
    verifies("SCHEMA-2", "REG-2");
    for (const options of [
      { tools: [tool("a.tool", schema)] },
      { sources: [declared("d", [tool("a.tool", schema)], { file: "/home/me/tools.json" })] },
    ]) {
      const error = thrownBy(() => createKernel(options));
      expect(error).toBeInstanceOf(RegistrationError);
      expect(String(error)).toContain('tool "a.tool"');
      expect(String(error)).toContain(`input_schema${at}`);
    }
  });

  it("at its root, where arguments are always an object, fails the start as well", () => {
    verifies("SCHEMA-1", "SCHEMA-2");
    for (const schema of [{ type: "string" }, { type: "array" }, z.string()]) {
      const error = thrownBy(() => createKernel({ tools: [tool("a.tool", schema)] }));
      expect(String(error)).toContain("input_schema/type");
    }
  });

  it.each(outside)("with %s keeps a server's tool, marked as extended", (_, schema) => {
    verifies("SCHEMA-3");
    expect(registered(tool("mcp.s.tool", schema))).toMatchObject({
      schema: "extended",
      input_schema: schema,
    });
  });

  it("is offered to models that take it, as it is, and relaxed to the others, with the places", async () => {
    verifies("SCHEMA-3", "SCHEMA-5", "MCP-10");
    const sources = [server("s", [tool("mcp.s.find", either), "list"])];
    const portable = await createWorld({ sources });
    const [catalog] = portable.facts("tool.catalog.resolved");
    expect(catalog?.data.tools).toContainEqual(
      expect.objectContaining({
        tool_name: "mcp.s.find",
        schema: "relaxed",
        relaxed: ["/properties/target/oneOf"],
      }),
    );
    const [found] = (await portable.run.tools()).tools;
    expect(found).toMatchObject({ name: "mcp__s__find", input_schema: { type: "object" } });
    const { target } = (found?.input_schema["properties"] ?? {}) as Record<string, JsonSchema>;
    expect(target).toMatchObject({ type: "object", properties: { id: {}, name: {} } });
    expect(target).not.toHaveProperty("oneOf");
    expect(target?.["description"]).toContain('{"oneOf":[');
    const able = await createWorld({ sources, profile: wide });
    const { tools } = await able.run.tools();
    expect(tools.map(({ name }) => name)).toEqual(["mcp__s__find", "mcp__s__list"]);
    expect(tools[0]?.input_schema).toEqual(either);
  });

  it.each(outside)(
    "with %s is offered relaxed by a server, and its place is named",
    async (_, schema, at) => {
      verifies("MCP-10");
      const world = await createWorld({ sources: [server("s", [tool("mcp.s.tool", schema)])] });
      const [catalog] = world.facts("tool.catalog.resolved");
      const [entry] = catalog?.data.tools ?? [];
      expect(entry).toMatchObject({
        state: "loaded",
        schema: "relaxed",
        relaxed: expect.arrayContaining([at]) as string[],
      });
      const [offered] = (await world.run.tools()).tools;
      expect(lowerSchema(offered?.input_schema ?? {}).kind).toBe("core");
    },
  );

  it("is checked when it was relaxed: an invalid argument is refused by us, field by field", async () => {
    verifies("MCP-10", "SCHEMA-4");
    const calls: unknown[] = [];
    const handler = (input: unknown) => calls.push(input);
    const sources = [server("s", [tool("mcp.s.find", either, { handler })])];
    const world = await createWorld({ sources, policy: allowAll });
    const [bad] = await world.execute({ name: "mcp.s.find", arguments: { target: { id: "1" } } });
    expect(bad?.error?.code).toBe("invalid_arguments");
    expect(textOf(bad)).toContain("target");
    expect(calls).toEqual([]);
    const [good] = await world.execute({ name: "mcp.s.find", arguments: { target: { id: 1 } } });
    expect(good?.status).toBe("succeeded");
  });

  it("is relaxed at its root only, for a model that takes it elsewhere", async () => {
    verifies("MCP-10");
    const root = { ...objectOf({ a: either }), anyOf: [{ required: ["a"] }, { required: ["b"] }] };
    const profile = { ...wide, refused_at_root: ["anyOf"] };
    const world = await createWorld({ sources: [server("s", [tool("mcp.s.x", root)])], profile });
    const [offered] = (await world.run.tools()).tools;
    expect(offered?.input_schema).not.toHaveProperty("anyOf");
    expect(offered?.input_schema).toMatchObject({ properties: { a: either } });
  });

  it("a server's tool without a description takes its title, or its name", async () => {
    verifies("MCP-10");
    const about = { description: undefined as never };
    const tools = [
      tool("mcp.s.one", objectOf({}), { ...about, title: "One of them" }),
      tool("mcp.s.two", objectOf({}), about),
    ];
    const world = await createWorld({ sources: [server("s", tools)] });
    const shown = (await world.run.tools()).tools.map(({ description }) => description);
    expect(shown).toEqual(["One of them", "two"]);
  });

  it("is what the arguments are checked against, wherever it came from", async () => {
    verifies("SCHEMA-3", "SCHEMA-4");
    const world = await createWorld({
      sources: [server("s", [tool("mcp.s.find", either)])],
      profile: wide,
      policy: allowAll,
    });
    const call = (target: unknown) => ({ name: "mcp.s.find", arguments: { target } });
    const [good, bad, both] = await world.execute(
      call({ id: 1 }),
      call({ id: "1" }),
      call({ id: 1, name: "x" }),
    );
    expect([good?.status, bad?.status, both?.status]).toEqual(["succeeded", "failed", "failed"]);
    expect(textOf(bad)).toContain("target");
  });
});

describe("lowering", () => {
  it.each<[string, AnyTool["input_schema"], unknown[], unknown[]]>([
    ["const", objectOf({ v: { const: "a" } }), ["a"], ["b", null]],
    [
      "an anyOf of consts",
      objectOf({ v: { anyOf: [{ const: 1 }, { const: "x" }] } }),
      [1, "x"],
      [2],
    ],
    [
      "a nullable",
      objectOf({ v: { anyOf: [{ type: "string" }, { type: "null" }] } }),
      ["s", null],
      [1],
    ],
    [
      "a local $ref",
      { ...objectOf({ v: { $ref: "#/$defs/v" } }), $defs: { v: { type: "integer", minimum: 3 } } },
      [3],
      [2, "3"],
    ],
    [
      "an allOf",
      objectOf({
        v: {
          allOf: [
            { type: "integer", minimum: 2 },
            { type: "integer", maximum: 4 },
          ],
        },
      }),
      [2, 4],
      [1, 5, "3"],
    ],
    [
      "a union of scalars",
      objectOf({ v: { anyOf: [{ type: "string" }, { type: "boolean" }] } }),
      ["s", false],
      [1, null],
    ],
    ["a zod literal", z.object({ v: z.literal("a") }), ["a"], ["b"]],
    ["a zod union", z.object({ v: z.union([z.string(), z.number()]) }), ["a", 1], [true]],
    ["a zod nullable enum", z.object({ v: z.enum(["a"]).nullable() }), ["a", null], ["b"]],
    ["a zod record", z.object({ v: z.record(z.string(), z.number()) }), [{ a: 1 }], [{ a: "1" }]],
  ])("brings %s inside and loses nothing", async (_, schema, good, bad) => {
    verifies("SCHEMA-3", "SCHEMA-2");
    const world = await createWorld({ tools: [tool("a.tool", schema)] });
    const [shown] = (await world.run.tools()).tools;
    expect(JSON.stringify(shown?.input_schema)).not.toMatch(/anyOf|allOf|oneOf|const|\$ref/);
    for (const v of good) {
      const [result] = await world.execute({ name: "a.tool", arguments: { v } });
      expect(result?.status, JSON.stringify(v)).toBe("succeeded");
    }
    for (const v of bad) {
      const [result] = await world.execute({ name: "a.tool", arguments: { v } });
      expect(result?.error?.code, JSON.stringify(v)).toBe("invalid_arguments");
    }
  });

  it.each<[string, AnyTool["input_schema"]]>([
    ["a zod tuple", z.object({ v: z.tuple([z.string(), z.number()]) })],
    [
      "a zod union of objects",
      z.object({ v: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) }),
    ],
    [
      "a zod lazy loop",
      z.object({
        get v() {
          return z.lazy(() => loop);
        },
      }),
    ],
  ])("that cannot bring %s inside refuses it clearly", (_, schema) => {
    verifies("SCHEMA-2");
    const error = thrownBy(() => createKernel({ tools: [tool("a.tool", schema)] }));
    expect(error).toBeInstanceOf(RegistrationError);
    expect(String(error)).toContain("input_schema/properties/v");
  });
});

const loop: z.ZodType = z.object({ next: z.lazy(() => loop) });

describe("a schema the chosen model cannot take", () => {
  const patterned = objectOf({ v: { type: "string", pattern: "^a" } });

  it.each<[string, WorldOptions]>([
    ["a code tool", { tools: [tool("a.tool", patterned)] }],
    ["a declarative tool", { sources: [declared("d", [tool("a.tool", patterned)])] }],
    [
      "a built-in",
      { sources: [{ id: "i", kind: "internal", tools: [tool("internal.x", patterned)] }] },
    ],
    [
      "a server's tool that was asked for by name, of which nothing can be offered",
      {
        sources: [server("s", [tool("mcp.s.tool", { type: "object", not: {}, pattern: "" })])],
        allowedTools: ["mcp.s.tool"],
      },
    ],
  ])("ends the run before it starts, for %s", async (_, options) => {
    verifies("SCHEMA-5");
    const { problems, message } = await refusalOf({ ...options, profile: picky });
    expect(problems).toEqual([expect.objectContaining({ code: "unsupported_capability" })]);
    expect(message).toMatch(/its schema uses (pattern|not)/);
  });

  it("relaxes a server's tool; one of which nothing can be offered is omitted, and the rest continues", async () => {
    verifies("SCHEMA-5", "SURF-3", "MCP-10");
    const nothing = { type: "object", not: {}, properties: { v: { pattern: "^a" } } };
    const sources = [server("s", [tool("mcp.s.bad", nothing), tool("mcp.s.good", patterned)])];
    for (const allowedTools of [undefined, ["mcp.s.*"]]) {
      const world = await createWorld({
        sources,
        profile: picky,
        allowedTools,
      });
      expect((await world.run.tools()).tools.map(({ name }) => name)).toEqual(["mcp__s__good"]);
      expect(world.run.surface.standing.get("mcp.s.bad")).toMatchObject({
        reason: "model_unsupported",
      });
    }
  });

  it("is none of a tool that is not for this run anyway", async () => {
    verifies("SCHEMA-5");
    const tools = [tool("a.off", patterned), tool("a.on", objectOf({}))];
    const world = await createWorld({
      tools,
      profile: picky,
      config: { tools: { disabled: ["a.off"] } },
    });
    expect((await world.run.tools()).tools.map(({ name }) => name)).toEqual(["a__on"]);
  });

  it("is never sent, not even that of the search tool itself", async () => {
    verifies("SCHEMA-5");
    const profile = { ...PORTABLE_PROFILE, id: "plain", refused_keywords: ["minLength"] };
    const { problems } = await refusalOf({
      sources: [server("s", ["a"])],
      profile,
      config: noRoom,
    });
    expect(problems).toEqual([
      expect.objectContaining({
        code: "unsupported_capability",
        tool_name: "internal.search_tools",
      }),
    ]);
  });

  it("also counts when there are simply too many tools for it", async () => {
    verifies("SCHEMA-5", "SURF-4");
    const profile = { ...PORTABLE_PROFILE, id: "small", max_tools: 2 };
    const config = { tools: { disabled: ["internal.search_tools"] } };
    const many = await createWorld({ sources: [server("s", ["a", "b", "c"])], profile, config });
    expect((await many.run.tools()).tools).toHaveLength(2);
    expect(many.run.surface.excluded).toContainEqual(
      expect.objectContaining({ tool_name: "mcp.s.c", reason: "model_unsupported" }),
    );
    const names = ["a.a", "a.b", "a.c"];
    const ours = await refusalOf({ tools: names.map((name) => reader(name)), profile, config });
    expect(ours.problems[0]?.code).toBe("unsupported_capability");
    const asked = await refusalOf({
      sources: [server("s", ["a", "b", "c"])],
      allowedTools: ["mcp.s.a", "mcp.s.b", "mcp.s.c"],
      profile,
      config,
    });
    expect(asked.problems[0]?.code).toBe("unsupported_capability");
  });
});
