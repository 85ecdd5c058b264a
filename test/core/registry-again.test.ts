// A source that lists its tools again (REG-3): whatever is the same is taken over unread, and whether a tool has
// changed is answered as its digest would.

import { createRegistry, digestOf, type AnyTool, type JsonObject } from "@soong/core";
import { toolRecord } from "@soong/core/internal";
import fc from "fast-check";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { server } from "./sources.ts";
import { writer } from "./world.ts";

const schemas: JsonObject[] = [
  { type: "object", properties: { a: { type: "string" }, b: { type: "integer" } } },
  // The same in another order is the same.
  { properties: { b: { type: "integer" }, a: { type: "string" } }, type: "object" },
  { type: "object", properties: { a: { type: "string" } } },
  { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
];

const odd = { toJSON: () => "7" };

const anyTool = fc
  .record({
    name: fc.constantFrom("a", "b", "c"),
    schema: fc.constantFrom(...schemas),
    output: fc.constantFrom(undefined, ...schemas),
    about: fc.constantFrom<Partial<AnyTool>>(
      {},
      { title: "T" },
      { tags: ["x"] },
      { aliases: ["x.y"] },
      { permission: "readonly" },
      { destructive: true },
      { timeout_ms: 5 },
      { max_result_chars: 5 },
      { on_sibling_failure: "cancel_siblings" },
      { search_hint: "hint" },
      { description: "another" },
      { metadata: { n: [1, { m: 2 }] } },
      { metadata: { n: [1, { m: 3 }] } },
      { metadata: { at: new Date(0) as never } },
      { metadata: { at: new Date(1) as never } },
      { metadata: { odd: odd as never } },
    ),
  })
  .map(({ name, schema, output, about }): AnyTool => {
    const { permission: _said, ...plain } = writer(`mcp.s.${name}`);
    const given = { ...plain, input_schema: structuredClone(schema), ...about };
    return output === undefined ? given : { ...given, output_schema: structuredClone(output) };
  });

const anyStep = fc.oneof(
  { weight: 5, arbitrary: fc.uniqueArray(anyTool, { maxLength: 3, selector: ({ name }) => name }) },
  { weight: 1, arbitrary: fc.constant("close" as const) },
);

describe("a source that lists again", () => {
  test("has, for any lists one after the other, the generations its digests would give", () => {
    verifies("REG-3");
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 2, maxLength: 8 }), (steps) => {
        const registry = createRegistry();
        const seen = new Map<string, { digest: string; generation: number }>();
        let handle = registry.open(server("s", []));
        for (const step of steps) {
          if (step === "close") {
            handle.close();
            handle = registry.open(server("s", []));
            continue;
          }
          handle.set(step);
          for (const tool of registry.snapshot().tools.values()) {
            const digest = digestOf({ ...toolRecord(tool), source: "mcp" });
            const before = seen.get(tool.name);
            const isSame = before === undefined || before.digest === digest;
            const generation = (before?.generation ?? 1) + (isSame ? 0 : 1);
            seen.set(tool.name, { digest, generation });
            expect(tool.generation).toBe(generation);
            expect(tool.digest()).toBe(digest);
            const given = step.find(({ name }) => name === tool.name)!;
            expect(tool.definition).toBe(given);
            expect(tool.input.original).toEqual(given.input_schema);
            expect(tool.output?.original).toEqual(given.output_schema);
          }
        }
      }),
      { numRuns: process.env["SOONG_TEST_FULL"] === "1" ? 5_000 : 300 },
    );
  });

  test("has its schemas read once, and the code that is there now", () => {
    verifies("REG-3");
    const registry = createRegistry();
    const list = () => [writer("mcp.s.a"), writer("mcp.s.b")];
    const handle = registry.open(server("s", list()));
    const first = registry.current("mcp.s.a")!;
    const again = list();
    handle.set(again);
    const second = registry.current("mcp.s.a")!;
    expect(second.input).toBe(first.input);
    expect(second.definition).toBe(again[0]);
    handle.set([]);
    handle.set(list());
    expect(registry.current("mcp.s.a")!.input).toBe(first.input);
    // Gone for longer, it is read anew; that it is the same is known all the same.
    handle.set([]);
    handle.set([]);
    handle.set(list());
    const third = registry.current("mcp.s.a")!;
    expect(third.input).not.toBe(first.input);
    expect(third.generation).toBe(1);
  });

  test("takes nothing over from a schema that checks values by code of its own", () => {
    verifies("REG-3", "DEF-6");
    const registry = createRegistry();
    const standard = (issue: string) => ({
      type: "object",
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({ issues: [{ message: issue }] }),
        jsonSchema: { input: () => ({ type: "object" }) },
      },
    });
    const tool = (issue: string): AnyTool => ({
      ...writer("a.b"),
      input_schema: standard(issue),
    });
    const handle = registry.open({ id: "code", kind: "code", tools: [tool("first")] });
    handle.set([tool("second")]);
    const { own } = registry.current("a.b")!.input;
    expect(own?.({})).toEqual({ issues: [{ message: "second" }] });
    handle.set([{ ...writer("a.b"), input_schema: { type: "object" } }]);
    expect(registry.current("a.b")!.input.own).toBeUndefined();
  });

  test("with thousands of tools is as quick as its changes are few", () => {
    verifies("REG-3");
    const registry = createRegistry();
    const list = () => Array.from({ length: 2_000 }, (_, i) => writer(`mcp.s.t${i}`));
    const handle = registry.open(server("s", list()));
    const inputs = new Set([...registry.snapshot().tools.values()].map(({ input }) => input));
    const next = list();
    next[7] = { ...next[7]!, input_schema: { type: "object", required: ["a"] } };
    handle.set(next);
    const tools = [...registry.snapshot().tools.values()];
    expect(tools.filter(({ input }) => !inputs.has(input)).map(({ name }) => name)).toEqual([
      "mcp.s.t7",
    ]);
    expect(tools.filter(({ generation }) => generation > 1)).toHaveLength(1);
  });
});
