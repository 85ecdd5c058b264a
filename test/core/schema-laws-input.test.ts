// SCHEMA-4, 6, 7 and 8: what comes in is checked before anything happens, kept in each of its forms, and
// bounded; what goes out is checked too.

import {
  defineHook,
  defineTool,
  toolResult,
  type AnyTool,
  type JsonObject,
  type JsonSchema,
} from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { verifies } from "#laws";
import { personWho } from "./people.ts";
import { declared, server } from "./sources.ts";
import { watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, type World, type WorldOptions } from "./world.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    lines: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
    mode: { enum: ["fast", "slow"] },
  },
  required: ["path"],
  additionalProperties: false,
};

describe("input", () => {
  const places: [string, (tool: AnyTool) => WorldOptions][] = [
    ["code", (tool) => ({ tools: [{ ...tool, name: "a.tool" }] })],
    ["declarative", (tool) => ({ sources: [declared("d", [{ ...tool, name: "a.tool" }])] })],
    ["mcp", (tool) => ({ sources: [server("s", [{ ...tool, name: "mcp.s.tool" }])] })],
    ["agent", (tool) => own("agent", tool)],
    ["internal", (tool) => own("internal", tool)],
  ];

  function own(kind: "agent" | "internal", tool: AnyTool): WorldOptions {
    return { sources: [{ id: "own", kind, tools: [{ ...tool, name: `${kind}.tool` }] }] };
  }

  it.each(places)("of a %s tool is validated before hook, person and handler", async (_, place) => {
    verifies("SCHEMA-4");
    const reached: string[] = [];
    const told = (stage: string) => (): undefined => void reached.push(stage);
    const person = personWho("allow_once");
    const { tool, inputs } = watchedWriter("x.y", {
      input_schema: schema,
      validate: told("validate"),
      prepare: () => {
        reached.push("prepare");
        return { resources: [] };
      },
    });
    const options = place(tool);
    const world = await createWorld({
      ...options,
      ask: person.ask,
      hooks: (["PreToolUse", "PermissionRequest"] as const).map((event) =>
        defineHook({ id: event, event, run: told(event) }),
      ),
    });
    const name = world.run.surface.loaded[0]?.name ?? "";
    for (const wrong of ["{}", '{"path":1}', "[]", '"path"', "null", "", "{", '{"path":"a"} x']) {
      const [result] = await world.execute({ id: wrong, name, arguments: wrong });
      expect(result, wrong).toMatchObject({ status: "failed", is_error: true });
      expect(result?.error?.recovery, wrong).toBe("change_arguments");
    }
    expect([reached, inputs, person.requests]).toEqual([[], [], []]);
    expect(world.facts("tool.validated", "tool.started")).toEqual([]);
    await world.execute({ name, arguments: { path: "a" } });
    expect(inputs, "and what fits is let through").toEqual([{ path: "a" }]);
  });

  it("that does not fit is answered once, with each field, what was expected and what came", async () => {
    verifies("SCHEMA-4", "RESULT-4");
    const world = await createWorld({ tools: [reader("a.tool", 0, { input_schema: schema })] });
    const [result] = await world.execute({
      name: "a.tool",
      arguments: { lines: [{ n: 1 }, { n: "two" }], mode: "medium", extra: true },
    });
    const text = textOf(result);
    expect(text).toMatch(/path.*(required|missing)/i);
    expect(text).toMatch(/lines\[1\]\.n.*integer.*"two"/);
    expect(text).toMatch(/mode.*"fast".*"slow".*"medium"/);
    expect(text).toContain("extra");
    const issues = result?.error?.details?.["issues"] as { path: string }[];
    expect(issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["path", "lines[1].n", "mode"]),
    );
    for (const issue of issues) expect(issue).toHaveProperty("received");
  });

  it("is never coerced into fitting", async () => {
    verifies("SCHEMA-2", "SCHEMA-4");
    const got: unknown[] = [];
    const properties = {
      n: { type: "number" },
      b: { type: "boolean" },
      s: { type: "string" },
      l: { type: "array" },
      i: { type: "integer" },
    };
    const tools = [
      reader("a.json", 0, {
        input_schema: { type: "object", properties },
        handler: (input) => void got.push(input),
      }),
      defineTool({
        name: "a.zod",
        description: "Coerces if it is let",
        permission: "readonly",
        input_schema: z.object({ n: z.coerce.number().optional() }),
        handler: (input) => void got.push(input),
      }),
    ];
    const world = await createWorld({ tools });
    const wrong = [
      { n: "1" },
      { b: "true" },
      { b: 1 },
      { s: 5 },
      { l: "x" },
      { i: 1.5 },
      { n: null },
    ];
    for (const input of wrong) {
      const [result] = await world.execute({ name: "a.json", arguments: input });
      expect(result?.error?.code, JSON.stringify(input)).toBe("invalid_arguments");
    }
    const [coerced] = await world.execute({ name: "a.zod", arguments: { n: "1" } });
    expect(coerced?.error?.code).toBe("invalid_arguments");
    expect(got).toEqual([]);
    await world.execute({ name: "a.json", arguments: '{"i":1.0,"n":1e2,"s":"5"}' });
    expect(got).toEqual([{ i: 1, n: 100, s: "5" }]);
  });

  it("that is unparseable text does not become {}", async () => {
    verifies("SCHEMA-4");
    const got: unknown[] = [];
    const world = await createWorld({
      tools: [reader("a.tool", 0, { handler: (input) => void got.push(input) })],
    });
    for (const text of ["{'a':1}", '{"a":1', "undefined", "a=1", '{"a":NaN}', '{"a":1,}']) {
      const [result] = await world.execute({ name: "a.tool", arguments: text });
      expect(result?.status, text).toBe("failed");
    }
    expect(got).toEqual([]);
  });
});

describe("the four inputs", () => {
  const replacing = (input: JsonObject) =>
    defineHook({ id: "fix", event: "PreToolUse", run: () => ({ input }) });

  it("are each on record where they differ, with every mutation between them", async () => {
    verifies("SCHEMA-6", "EVENT-3");
    const seen: unknown[] = [];
    const { tool, inputs } = watchedWriter("a.tool", {
      normalise: (input) => ({ ...(input as JsonObject), path: "/a" }),
    });
    const world = await createWorld({
      tools: [tool],
      hooks: [
        defineHook({
          id: "look",
          event: "PreToolUse",
          run: ({ input }) => void seen.push(input),
        }),
        replacing({ path: "/a", force: false }),
      ],
      ask: personWho("allow_once").ask,
    });
    const sent = '{ "path":"/A",  "force":true }';
    await world.execute({ id: "c", name: "a.tool", arguments: sent });
    expect(recorded(world, "model_input"), "verbatim").toEqual([sent]);
    expect(seen[0], "what hooks see").toEqual({ path: "/a", force: true });
    expect(recorded(world, "observable_input")[0]).toEqual({ path: "/a", force: true });
    const judged = { path: "/a", force: false };
    expect(world.facts("permission.requested")[0]?.data.request).toMatchObject({
      arguments: judged,
    });
    expect(inputs).toEqual([judged]);
    expect(mutationsOf(world)).toEqual([
      { source: "normalise", reason: expect.any(String) as string, changed_fields: ["path"] },
      { source: "hook:fix", reason: expect.any(String) as string, changed_fields: ["force"] },
    ]);
    expect(recorded(world, "permission_input").at(-1), "permission_input").toEqual(judged);
    expect(recorded(world, "call_input").at(-1), "call_input").toEqual(judged);
  });

  it("are one where nothing was changed, and the model's is kept though it was refused", async () => {
    verifies("SCHEMA-6");
    const world = await createWorld({ tools: [reader("a.tool", 0, { input_schema: schema })] });
    await world.execute({ id: "c", name: "a.tool", arguments: '{"path":"x"}' });
    expect(world.facts("input.mutated")).toEqual([]);
    for (const text of ['{"path":', '{"nope":1}', "not json"]) {
      await world.execute({ id: text, name: "a.tool", arguments: text });
      const [requested] = world
        .facts("tool.requested")
        .filter(({ tool_call_id }) => tool_call_id === text);
      expect(requested?.data.model_input).toBe(text);
    }
  });

  it("show the defaults of an author's schema as a mutation", async () => {
    verifies("SCHEMA-6", "DEF-6");
    const got: unknown[] = [];
    const tool = defineTool({
      name: "a.tool",
      description: "Has defaults",
      permission: "readonly",
      input_schema: z.object({ n: z.number().default(5), deep: z.object({ a: z.number() }) }),
      handler: (input) => void got.push(input),
    });
    const world = await createWorld({ tools: [tool] });
    await world.execute({ id: "c", name: "a.tool", arguments: '{"deep":{"a":1}}' });
    expect(got).toEqual([{ n: 5, deep: { a: 1 } }]);
    expect(recorded(world, "model_input")).toEqual(['{"deep":{"a":1}}']);
    expect(mutationsOf(world)).toMatchObject([{ source: "schema", changed_fields: ["n"] }]);
    expect(recorded(world, "observable_input")).toEqual([{ n: 5, deep: { a: 1 } }]);
  });

  it("keep the model's apart from what others do to their copies", async () => {
    verifies("SCHEMA-6");
    const given: JsonObject = { list: [1] };
    const grab = (input: unknown): undefined =>
      void ((input as JsonObject)["list"] as number[]).push(9);
    const { tool, inputs } = watchedWriter("a.tool");
    const world = await createWorld({
      tools: [tool],
      hooks: [defineHook({ id: "h", event: "PreToolUse", run: ({ input }) => grab(input) })],
      ask: (request) => {
        grab(request.arguments);
        return { decision: "allow_once" };
      },
    });
    await world.execute({ id: "c", name: "a.tool", arguments: given });
    expect(inputs).toEqual([{ list: [1] }]);
    expect(given).toEqual({ list: [1] });
    expect(mutationsOf(world)).toEqual([]);
  });

  it("are kept as an artifact when they are long", async () => {
    verifies("SCHEMA-6", "EVENT-3");
    const world = await createWorld({ tools: [reader("a.tool")] });
    const sent = JSON.stringify({ text: "y".repeat(100_000) });
    await world.execute({ id: "c", name: "a.tool", arguments: sent });
    const [fact] = world.facts("tool.requested");
    expect(JSON.stringify(fact).length).toBeLessThan(50_000);
    const [, created] = world.facts("artifact.created");
    expect(created?.data).toMatchObject({ name: ARGUMENTS_NAME, tool_call_id: "c" });
    const kept = await world.artifacts.read(created?.data.artifact_id as string);
    expect(new TextDecoder().decode(kept)).toBe(sent);
  });
});

describe("output", () => {
  const output_schema = {
    type: "object",
    properties: { rows: { type: "array", items: { type: "integer" } } },
    required: ["rows"],
  };

  async function outcome(value: unknown, schema_: AnyTool["output_schema"] = output_schema) {
    const tool = reader("a.tool", 0, { output_schema: schema_, handler: () => value });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "a.tool", arguments: {} });
    return result;
  }

  it("that fits is passed on", async () => {
    verifies("SCHEMA-7");
    for (const value of [{ rows: [1] }, toolResult({ ok: true, data: { rows: [] } })]) {
      expect(await outcome(value)).toMatchObject({ status: "succeeded", is_error: false });
    }
    expect(await outcome("text", { type: "string" })).toMatchObject({ status: "succeeded" });
    expect(await outcome(3, { type: "integer" })).toMatchObject({ status: "succeeded" });
    expect(await outcome(null, { type: "null" })).toMatchObject({ status: "succeeded" });
  });

  it.each<[string, unknown]>([
    ["has the wrong type inside", { rows: ["1"] }],
    ["misses a field", {}],
    ["is text", "rows: 1"],
    ["is nothing", undefined],
    ["is a list", [{ rows: [1] }]],
    ["is wrong in a full result", toolResult({ ok: true, data: { rows: 1 } })],
  ])("that %s is a failed result which still shows it", async (_, value) => {
    verifies("SCHEMA-7");
    const result = await outcome(value);
    expect(result).toMatchObject({
      status: "failed",
      is_error: true,
      error: { code: "output_schema_mismatch" },
    });
    expect(result?.error?.message).toContain("output_schema");
    if (typeof value === "string") expect(textOf(result)).toContain(value);
  });

  it("of a failure is not held to the schema of a success", async () => {
    verifies("SCHEMA-7");
    const result = await outcome({ ok: false, error: { code: "gone", message: "not there" } });
    expect(result?.error).toMatchObject({ code: "gone", message: "not there" });
  });

  it("is checked by the author's own schema as well", async () => {
    verifies("SCHEMA-7");
    const even = z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") });
    expect(await outcome({ n: 2 }, even)).toMatchObject({ status: "succeeded" });
    expect(await outcome({ n: 3 }, even)).toMatchObject({
      status: "failed",
      error: { code: "output_schema_mismatch" },
    });
  });
});

describe("what comes from outside is bounded", () => {
  it("in size and depth, by default and by config", async () => {
    verifies("SCHEMA-8");
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const codes = async (options: WorldOptions, ...given: string[]) => {
      const world = await createWorld({ tools: [reader("a.tool")], ...options });
      const calls = given.map((text) => ({ name: "a.tool", arguments: text }));
      return (await world.execute(...calls)).map(({ status, error }) => error?.code ?? status);
    };
    const big = JSON.stringify({ a: "x".repeat(1024 * 1024) });
    const [most, over, deepest, deeper] = await codes(
      {},
      JSON.stringify({ a: "x".repeat(1024 * 1024 - 8) }),
      big,
      deep(64),
      deep(65),
    );
    expect([most, deepest]).toEqual(["succeeded", "succeeded"]);
    expect(new Set([over, deeper]).has("succeeded")).toBe(false);
    const config = { tools: { max_arguments_bytes: 20, max_arguments_depth: 2 } };
    const small = await codes(
      { config },
      '{"a":{"b":1}}',
      '{"a":{"b":{}}}',
      '{"a":"0123456789abc"}',
    );
    expect(small[0]).toBe("succeeded");
    expect(small.slice(1)).not.toContain("succeeded");
  });

  it("in time: a pattern that would backtrack for years answers now", async () => {
    verifies("SCHEMA-8");
    const pattern = "^(([a-z])+.)+[A-Z]([a-z])+$";
    const evil = { type: "object", properties: { v: { type: "string", pattern } } };
    const world = await createWorld({
      tools: [reader("a.tool", 0, { input_schema: evil })],
      sources: [server("s", [reader("mcp.s.tool", 0, { input_schema: evil })])],
      policy: allowAll,
    });
    const v = "a".repeat(200_000);
    const results = await world.execute(
      { name: "a.tool", arguments: { v } },
      { name: "mcp.s.tool", arguments: { v } },
    );
    expect(results.map(({ error }) => error?.code)).toEqual([
      "invalid_arguments",
      "invalid_arguments",
    ]);
  });
});

/** Every value recorded under this name for the call "c", in order. */
function recorded(world: World, key: string): unknown[] {
  return world
    .facts()
    .filter(({ tool_call_id }) => tool_call_id === "c")
    .map(({ data }) => (data as Record<string, unknown>)[key])
    .filter((value) => value !== undefined);
}

function mutationsOf(world: World): unknown[] {
  return world
    .facts("input.mutated")
    .map(({ data }) => data)
    .map(({ source, reason, changed_fields }) => ({ source, reason, changed_fields }));
}
