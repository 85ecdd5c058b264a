// What a hook made of the input goes through everything again (HOOK-2, PIPE-2): schema, plan, every
// guard, policy, and the wait to be alone.

import type { AnyTool, JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import { pre } from "./pre-hook.ts";
import { planByInput, watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, takeTimeBy, textOf, writer } from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const edit = () => ({ id: "c1", name: "notes.edit", arguments: { text: "a" } });

describe("a replaced input", () => {
  const schema = {
    type: "object",
    properties: { text: { type: "string" }, path: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  };

  test("is what is planned, judged, shown and executed, and the change is on record", async () => {
    verifies("HOOK-2", "PIPE-2", "SCHEMA-6");
    const tool = watchedWriter("notes.edit", { targets: planByInput() });
    const person = personWho("allow_once");
    const hooks = [
      pre("move", ({ path }) => (path === "/project/a" ? { input: { path: "/project/b" } } : {})),
    ];
    const { world } = await callOnce(
      tool,
      { path: "/project/a" },
      { hooks, ask: person.ask, roots: ROOTS },
    );
    expect(tool.inputs).toEqual([{ path: "/project/b" }]);
    expect(person.requests).toMatchObject([
      { arguments: { path: "/project/b" }, resources: [{ path: "/project/b" }] },
    ]);
    expect(world.facts("permission.evaluated")).toHaveLength(1);
    expect(world.facts("permission.evaluated")[0]?.data).toMatchObject({
      resources: [{ path: "/project/b" }],
    });
    expect(world.facts("input.mutated")[0]?.data).toMatchObject({
      source: "hook:move",
      changed_fields: ["path"],
      observable_input: { path: "/project/b" },
    });
    expect(world.facts("tool.requested")[0]?.data.model_input).toContain("/project/a");
  });

  test("that policy denies is denied, although what the model asked for was allowed", async () => {
    verifies("HOOK-2", "PIPE-2");
    const tool = watchedWriter("notes.edit", { prepare: planByInput() });
    const hooks = [pre("move", { input: { path: "/project/secret" } })];
    const rules = [...allowAll.rules, { path: "secret", decision: "deny" as const }];
    const got = await callOnce(
      tool,
      { path: "/project/a" },
      { hooks, policy: { rules }, roots: ROOTS },
    );
    expect(got).toMatchObject({ status: "denied", code: "policy_denied", asked: 0 });
    expect(tool.inputs).toEqual([]);
  });

  test.each<[string, Partial<AnyTool>, JsonObject]>([
    ["the schema", { input_schema: schema }, { text: 1 }],
    ["a closed schema", { input_schema: schema }, { text: "a", extra: true }],
    [
      "the tool's own check",
      { validate: (input) => ((input as JsonObject)["text"] === "bad" ? "bad text" : undefined) },
      { text: "bad" },
    ],
  ])(
    "that %s refuses ends the call before anyone is asked, and names the hook",
    async (_, about, input) => {
      verifies("HOOK-2", "PIPE-2", "SCHEMA-4");
      const tool = watchedWriter("notes.edit", about);
      const got = await callOnce(tool, { text: "a" }, { hooks: [pre("breaks", { input })] });
      expect(got).toMatchObject({ status: "failed", code: "invalid_arguments", asked: 0 });
      expect(got.world.facts("tool.failed")[0]?.data.result).toMatchObject({
        error: { message: expect.stringContaining('"breaks"') as string },
      });
      expect(tool.inputs).toEqual([]);
    },
  );

  test("is seen by every guard, those before it in line as well", async () => {
    verifies("HOOK-2", "PIPE-2");
    const seen: string[] = [];
    const watch = (id: string) => pre(id, ({ text }) => void seen.push(`${id} ${text as string}`));
    const change = pre("change", ({ text }) => (text === "a" ? { input: { text: "b" } } : {}));
    const deny = pre("deny b", ({ text }) => (text === "b" ? { decision: "deny" } : {}));
    const tool = watchedWriter("notes.edit");
    const got = await callOnce(
      tool,
      { text: "a" },
      { hooks: [watch("first"), change, watch("last")] },
    );
    expect(got.status).toBe("succeeded");
    expect(seen).toEqual(["first a", "last b", "first b", "last b"]);
    expect(
      await callOnce(watchedWriter("notes.edit"), { text: "a" }, { hooks: [deny, change] }),
    ).toMatchObject({ status: "denied" });
  });

  test("that no one can agree on ends in a denial, not in a loop", async () => {
    verifies("HOOK-2");
    const tool = watchedReader("notes.read");
    const hooks = [pre("one", { input: { n: 1 } }), pre("two", { input: { n: 2 } })];
    const got = await callOnce(tool, { n: 0 }, { hooks });
    expect(got).toMatchObject({ status: "denied", code: "hook_denied" });
    expect(got.world.facts("hook.denied")).toHaveLength(1);
    expect(tool.inputs).toEqual([]);
  });

  test("that is the same as before is no change", async () => {
    verifies("HOOK-2");
    const tool = watchedReader("notes.read");
    const { world } = await callOnce(
      tool,
      { n: 1, m: 2 },
      { hooks: [pre("same", { input: { m: 2, n: 1 } })] },
    );
    expect(world.facts("input.mutated")).toEqual([]);
    expect(world.facts("hook.started")).toHaveLength(1);
  });

  test("is normalised like any other, and hooks see it normalised", async () => {
    verifies("HOOK-2", "SCHEMA-6");
    const seen: unknown[] = [];
    const tool = watchedReader("notes.read", {
      normalise: (input) => ({
        ...(input as object),
        text: (input as { text: string }).text.trim(),
      }),
    });
    const hooks = [
      pre("look", ({ text }) => void seen.push(text)),
      pre("pad", ({ text }) => (text === "a" ? { input: { text: " b " } } : {})),
    ];
    await callOnce(tool, { text: "  a " }, { hooks });
    expect(seen).toEqual(["a", "b"]);
    expect(tool.inputs).toEqual([{ text: "b" }]);
  });

  test("that turns a read into a write waits to be alone, asks, and holds back what comes after", async () => {
    verifies("HOOK-2", "PIPE-2", "SCHED-1");
    const person = personWho("allow_once");
    const both = watchedWriter("notes.both", {
      classify: (input) =>
        (input as JsonObject)["write"] === true ? {} : { read_only: true, concurrency_safe: true },
    });
    const hooks = [pre("write it", { input: { write: true } }, { tool: "notes.both" })];
    const world = await createWorld({
      tools: [both.tool, reader("notes.read", 100), writer("notes.edit")],
      hooks,
      ask: person.ask,
    });
    takeTimeBy(world.clock);
    const executing = world.run.execute([
      { id: "r1", name: "notes.read", arguments: {} },
      { id: "x", name: "notes.both", arguments: {} },
      { id: "r2", name: "notes.read", arguments: {} },
      edit(),
    ]);
    await world.clock.advance(99);
    expect(person.requests).toEqual([]);
    expect(both.inputs).toEqual([]);
    await world.clock.advance(1);
    const results = await executing;
    expect(results.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));
    expect(
      person.requests.map(({ tool_call_id, permission }) => [tool_call_id, permission]),
    ).toEqual([
      ["x", "write"],
      ["c1", "write"],
    ]);
    const order = world
      .facts("tool.started", "tool.completed")
      .map(({ tool_call_id, type }) => `${tool_call_id} ${type}`);
    const at = (what: string): number => order.indexOf(what);
    expect(at("x tool.started")).toBeGreaterThan(at("r1 tool.completed"));
    expect(at("x tool.started")).toBeGreaterThan(at("r2 tool.completed"));
    expect(at("c1 tool.started")).toBeGreaterThan(at("x tool.completed"));
  });

  test("that turned a read into a write stops later calls when the user says no", async () => {
    verifies("HOOK-2", "SCHED-3");
    const both = watchedWriter("notes.both", {
      classify: (input) =>
        (input as JsonObject)["write"] === true ? {} : { read_only: true, concurrency_safe: true },
    });
    const hooks = [pre("write it", { input: { write: true } }, { tool: "notes.both" })];
    const world = await createWorld({
      tools: [both.tool, writer("notes.edit")],
      hooks,
      ask: personWho("deny").ask,
    });
    const results = await world.execute({ id: "x", name: "notes.both", arguments: {} }, edit());
    expect(results.map(({ status }) => status)).toEqual(["rejected", "skipped"]);
    expect(textOf(results[1])).toContain("notes.both");
  });
});
