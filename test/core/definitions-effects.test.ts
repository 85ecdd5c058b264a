// DEF-1, DEF-3 and DEF-4: what a definition says of its effects, what is assumed where it says nothing,
// and how far one call may say otherwise.

import { createRegistry, toolResult, type AnyTool } from "@soong/core";
import { toolRecord } from "@soong/core/internal";
import { KNOWN_TAGS } from "../../packages/core/src/tool/index.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { personWho } from "./people.ts";
import { declared, server, thrownBy } from "./sources.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, writer, type World } from "./world.ts";

const bare: AnyTool = {
  name: "notes.touch",
  description: "Says nothing of itself",
  input_schema: { type: "object" },
  handler: () => "done",
};

function recordOf(tool: AnyTool) {
  const registry = createRegistry();
  registry.register(tool);
  const registered = registry.snapshot().tools.get(tool.name);
  if (registered === undefined) throw new Error(`${tool.name} is not registered`);
  return toolRecord(registered);
}

it("a definition has the digest it always had: approvals and journals hold it", () => {
  const registry = createRegistry();
  registry.register({ ...bare, permission: "readonly" });
  expect(registry.current(bare.name)?.digest()).toBe(
    "sha256:04816827667400d7bb333e95358131a45a5e0b5fb371d0320127dab80d50c74d",
  );
});

function queuedAs(world: World): unknown[] {
  return world.facts("tool.queued").map(({ data }) => data.class);
}

function effectsOf(world: World): unknown[] {
  return world.facts("tool.validated").map(({ data }) => data.effects);
}

describe("a definition", () => {
  it("keeps its name, description, schema, permission, tags and metadata", () => {
    verifies("DEF-1");
    const input_schema = { type: "object", properties: { path: { type: "string" } } };
    const record = recordOf({
      ...bare,
      input_schema,
      permission: "readonly",
      tags: [...KNOWN_TAGS.filter((tag) => tag !== "write"), "billing"],
      metadata: { host: "example.org", nested: { a: [1] } },
    });
    expect(record).toMatchObject({
      tool_name: "notes.touch",
      description: "Says nothing of itself",
      input_schema,
      permission: "readonly",
      metadata: { host: "example.org", nested: { a: [1] } },
    });
    expect(record["tags"]).toEqual(expect.arrayContaining(["dangerous", "network", "billing"]));
  });

  it.each<[string, object]>([
    ["description", { description: " " }],
    ["handler", { handler: "echo" }],
    ["input_schema", { input_schema: "object" }],
    ["permission", { permission: "read" }],
    ["permission", { permission: "Readonly" }],
    ["tags", { tags: "network" }],
    ["tags", { permission: "readonly", tags: ["write"] }],
    ["aliases", { aliases: ["a b"] }],
    ["timeout_ms", { timeout_ms: 0 }],
    ["timeout_ms", { timeout_ms: "5s" }],
    ["max_result_chars", { max_result_chars: -1 }],
    ["interrupt_behavior", { interrupt_behavior: "stop" }],
    ["on_sibling_failure", { on_sibling_failure: true }],
    ["concurrency_safe", { concurrency_safe: "yes" }],
    ["destructive", { destructive: 0 }],
    ["open_world", { open_world: null }],
    ["repeatable", { repeatable: "no" }],
    ["defer", { defer: 1 }],
    ["always_load", { always_load: "true" }],
    ["classify", { classify: { read_only: true } }],
    ["prepare", { prepare: true }],
    ["isEnabled", { isEnabled: false }],
    ["output_schema", { output_schema: "object" }],
  ])("is refused for a wrong %s rather than guessed at (%j)", (field, wrong) => {
    verifies("DEF-1", "DEF-2", "DEF-3", "REG-2");
    const error = thrownBy(() => createRegistry().register({ ...bare, ...wrong }));
    expect(error).toMatchObject({ name: "RegistrationError" });
    expect((error as { problems: { field: string }[] }).problems[0]?.field).toMatch(
      new RegExp(`^${field}`),
    );
  });

  it("of a tool that only adds context nodes may be readonly, and then it need not ask", async () => {
    verifies("DEF-1");
    const tool = reader("skills.load", 0, {
      handler: () =>
        toolResult({ ok: true, context_nodes: [{ kind: "skill_context", text: "how" }] }),
    });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "skills.load", arguments: {} });
    expect(result?.status).toBe("succeeded");
    expect(world.journal.nodes.map(({ kind }) => kind)).toEqual(["tool_result", "skill_context"]);
  });
});

describe("what an author omits", () => {
  it("takes the safer value, and the records say what was assumed", async () => {
    verifies("DEF-3", "SURF-8");
    const facts = {
      permission: "write",
      read_only: false,
      concurrency_safe: false,
      destructive: true,
      open_world: false,
      repeatable: false,
      interrupt_behavior: "block",
    };
    const assumed = Object.keys(facts).filter((fact) => fact !== "read_only");
    const record = recordOf(bare);
    expect(record).toMatchObject({ ...facts, declared: [] });
    expect(new Set(record["assumed"] as string[])).toEqual(new Set(assumed));

    const world = await createWorld({ tools: [bare] });
    const [catalog] = world.facts("tool.catalog.resolved");
    expect(catalog?.data.tools).toContainEqual(
      expect.objectContaining({
        tool_name: "notes.touch",
        is_read_only: false,
        is_concurrency_safe: false,
        is_destructive: true,
        is_open_world: false,
        interrupt_behavior: "block",
        policy: "ask",
        declared: [],
      }),
    );
  });

  it("is treated so: the bare tool asks, runs alone, is waited for, and is bounded", async () => {
    verifies("DEF-3", "RESULT-6");
    const person = personWho("allow_once");
    const chatty = { ...bare, handler: () => "x".repeat(70_000) };
    const world = await createWorld({ tools: [chatty], ask: person.ask });
    const [result] = await world.execute({ name: "notes.touch", arguments: {} });
    expect(person.requests[0]).toMatchObject({ permission: "write", destructive: true });
    expect(queuedAs(world)).toEqual(["write"]);
    expect(world.facts("tool.started")[0]?.data.interrupt_behavior).toBe("block");
    expect(result?.artifacts).toHaveLength(1);
  });

  it("makes a readonly tool neither destructive nor fit to run beside others", async () => {
    verifies("DEF-3");
    const world = await createWorld({ tools: [{ ...bare, permission: "readonly" }] });
    await world.execute({ name: "notes.touch", arguments: {} });
    expect(effectsOf(world)).toEqual([
      {
        read_only: true,
        concurrency_safe: false,
        destructive: false,
        open_world: false,
        repeatable: false,
      },
    ]);
    expect(queuedAs(world)).toEqual(["exclusive"]);
  });

  it("does not take a readonly tag for a permission", () => {
    verifies("DEF-3");
    const record = recordOf({ ...bare, tags: ["readonly"] });
    expect(record).toMatchObject({ permission: "write", read_only: false });
    expect(record["tags"]).not.toContain("readonly");
  });

  it("is open-world for anything with the network tag, from the tool or from its source", async () => {
    verifies("DEF-3");
    expect(recordOf({ ...bare, tags: ["network"] })).toMatchObject({ open_world: true });
    expect(recordOf({ ...bare, tags: ["network"], open_world: false })).toMatchObject({
      open_world: false,
      declared: ["open_world"],
    });
    const world = await createWorld({
      sources: [server("web", ["get"], { tags: ["network"] })],
      policy: allowAll,
    });
    await world.execute({ name: "mcp.web.get", arguments: {} });
    expect(effectsOf(world)).toEqual([expect.objectContaining({ open_world: true })]);
  });

  it("never lets a tool that writes run beside others, though it says it may", async () => {
    verifies("DEF-3", "DEF-4");
    const tool = writer("a.write", 0, {
      concurrency_safe: true,
      classify: () => ({ concurrency_safe: true }),
    });
    const world = await createWorld({ tools: [tool], policy: allowAll });
    await world.execute({ name: "a.write", arguments: {} });
    expect(queuedAs(world)).toEqual(["write"]);
  });

  it("is distinguished from what was declared, for every choice of facts", () => {
    verifies("DEF-3");
    const facts = fc.record(
      {
        permission: fc.constantFrom("readonly" as const, "write" as const),
        concurrency_safe: fc.boolean(),
        destructive: fc.boolean(),
        open_world: fc.boolean(),
        repeatable: fc.boolean(),
        interrupt_behavior: fc.constantFrom("cancel" as const, "block" as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(facts, (given) => {
        const record = recordOf({ ...bare, ...given });
        const said = Object.keys(given);
        expect(new Set(record["declared"] as string[])).toEqual(new Set(said));
        const both = [...(record["declared"] as string[]), ...(record["assumed"] as string[])];
        expect(both.toSorted()).toEqual([
          "concurrency_safe",
          "destructive",
          "interrupt_behavior",
          "open_world",
          "permission",
          "repeatable",
        ]);
        expect(record["read_only"]).toBe(given.permission === "readonly");
        if (given.concurrency_safe !== true) expect(record["concurrency_safe"]).toBe(false);
        const { permission, repeatable = given.concurrency_safe === true } = given;
        expect(record["repeatable"]).toBe(permission === "readonly" && repeatable);
        if (given.destructive !== false && given.permission !== "readonly") {
          expect(record["destructive"]).toBe(true);
        }
      }),
    );
  });
});

describe("classify", () => {
  const harmless = (input: unknown) =>
    (input as { dry?: boolean }).dry === true ? { read_only: true, concurrency_safe: true } : {};

  it("may report less for one call, and only for that one", async () => {
    verifies("DEF-4");
    const { tool, inputs } = watchedWriter("db.run", { classify: harmless });
    const world = await createWorld({ tools: [tool] });
    const [dry] = await world.execute({ id: "dry", name: "db.run", arguments: { dry: true } });
    const [wet] = await world.execute({ id: "wet", name: "db.run", arguments: { dry: false } });
    expect(dry?.status).toBe("succeeded");
    expect(wet?.error?.code).toBe("permission_unanswered");
    expect(queuedAs(world)).toEqual(["parallel", "write"]);
    const open_world = false;
    expect(effectsOf(world)).toEqual([
      {
        read_only: true,
        concurrency_safe: true,
        destructive: false,
        open_world,
        repeatable: true,
      },
      {
        read_only: false,
        concurrency_safe: false,
        destructive: true,
        open_world,
        repeatable: false,
      },
    ]);
    expect(inputs).toEqual([{ dry: true }]);
    expect(world.facts("error")).toEqual([]);
  });

  it.each([
    ["a server", (tool: AnyTool) => server("db", [{ ...tool, name: "mcp.db.run" }])],
    ["an untrusted source", (tool: AnyTool) => declared("db", [tool], { trusted: false })],
  ])("of %s is not heard", async (_, source) => {
    verifies("DEF-4", "REG-1");
    let asked = 0;
    const { tool, inputs } = watchedWriter("db.run", {
      classify: () => {
        asked += 1;
        return { read_only: true, destructive: false };
      },
    });
    const given = source(tool);
    const world = await createWorld({ sources: [given] });
    const [result] = await world.execute({
      name: given.tools[0]?.name ?? "",
      arguments: { dry: true },
    });
    expect(result?.status).toBe("denied");
    expect(queuedAs(world)).toEqual(["write"]);
    expect([inputs, asked]).toEqual([[], 0]);
  });

  const sideways: [string, () => unknown][] = [
    ["more than readonly", () => ({ read_only: false })],
    ["destructive", () => ({ destructive: true })],
    ["open-world", () => ({ open_world: true })],
    ["not concurrency-safe after all", () => ({ concurrency_safe: false })],
    ["some less and some more", () => ({ read_only: true, open_world: true })],
    [
      "nothing, by throwing",
      () => {
        throw new Error("cannot tell");
      },
    ],
    ["null", () => null],
    ["nothing", () => undefined],
    ["text", () => "readonly"],
    ["a fact that is no boolean", () => ({ read_only: "yes" })],
    ["a null fact", () => ({ concurrency_safe: null })],
    [
      "an object that throws when it is read",
      () => ({
        get destructive(): boolean {
          throw new Error("no");
        },
      }),
    ],
  ];

  it.each(sideways)("that says %s is an error, and the call is a write", async (_, classify) => {
    verifies("DEF-4");
    const { tool, inputs } = watchedReader("db.look", { classify: classify as never });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ id: "c", name: "db.look", arguments: {} });
    const errors = world.facts("error");
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      tool_call_id: "c",
      tool_name: "db.look",
      data: { code: "bad_classification" },
    });
    expect(queuedAs(world)).toEqual(["write"]);
    expect(effectsOf(world)).toEqual([
      expect.objectContaining({ read_only: false, concurrency_safe: false, destructive: true }),
    ]);
    expect(result).toMatchObject({ status: "denied", error: { code: "permission_unanswered" } });
    expect(inputs).toEqual([]);
  });

  it("that answers with a promise has said nothing that helps it", async () => {
    verifies("DEF-4");
    const { tool, inputs } = watchedWriter("db.run", {
      classify: (async () => ({ read_only: true })) as never,
    });
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute({ name: "db.run", arguments: {} });
    expect(result?.status).toBe("denied");
    expect(queuedAs(world)).toEqual(["write"]);
    expect(inputs).toEqual([]);
  });

  it("cannot bring a tool that writes into plan mode: there the worst case counts", async () => {
    verifies("DEF-4", "SURF-9");
    const { tool } = watchedWriter("db.run", { classify: () => ({ read_only: true }) });
    const world = await createWorld({ tools: [tool], mode: "plan" });
    expect(world.run.surface.standing.get("db.run")).toMatchObject({ reason: "mode_restricted" });
  });
});
