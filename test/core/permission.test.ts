// What the permission stage of a call decides and records (PERM-1, 2, 3, 7, 9, 14), through the kernel.

import {
  defineHook,
  type AnyTool,
  type ChainEntry,
  type PermissionRule,
  type PolicyInput,
  type ToolSource,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import {
  planByInput,
  planOf,
  reads,
  watchedReader,
  watchedWriter,
  writes,
  type Watched,
} from "./watched.ts";
import { createWorld, reader, writer, type World, type WorldOptions } from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const allow = (rule: Partial<PermissionRule>): PermissionRule => ({ decision: "allow", ...rule });
const ask = (rule: Partial<PermissionRule>): PermissionRule => ({ decision: "ask", ...rule });
const deny = (rule: Partial<PermissionRule>): PermissionRule => ({ decision: "deny", ...rule });

function chainOf(world: World): readonly ChainEntry[] {
  return world.facts("permission.evaluated").at(-1)?.data.chain ?? [];
}

describe("what is recorded", () => {
  test("facts and decision are both in the journal, apart from each other, before the start", async () => {
    verifies("PERM-1");
    const edit = watchedWriter("notes.edit", { targets: planOf(writes("/project/a.txt")) });
    const { world } = await callOnce(edit, { text: "x" }, { roots: ROOTS });

    const [evaluated] = world.facts("permission.evaluated");
    expect(evaluated?.data).toMatchObject({
      permission: "write",
      resources: [{ kind: "path", access: "write", path: "/project/a.txt" }],
      hosts: [],
      effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: false },
      decision: "ask",
    });
    expect(evaluated?.data.reason).toEqual(expect.any(String));
    expect(evaluated?.data.digest).toBe(edit.plans[0]?.digest);
    const story = world.storyOf("c1");
    expect(story.indexOf("permission.evaluated")).toBeLessThan(story.indexOf("tool.started"));
  });

  test("an allowed call is on record just like a refused one", async () => {
    verifies("PERM-1");
    const { world } = await callOnce(watchedReader("notes.read"), {});
    expect(world.facts("permission.evaluated")).toHaveLength(1);
    expect(world.facts("permission.evaluated")[0]?.data).toMatchObject({ decision: "allow" });
  });

  test("the start of a call points at the decision that let it happen", async () => {
    verifies("PERM-1");
    const { world } = await callOnce(watchedWriter("notes.edit"), {});
    const [resolved] = world.facts("permission.resolved");
    expect(resolved).toBeDefined();
    expect(world.facts("tool.started")[0]?.data).toMatchObject({ decision_ref: resolved?.id });
  });

  test("policy is asked once for a call, and no call starts without it", async () => {
    verifies("PERM-1", "PERM-2");
    const person = personWho("allow_once");
    const tools = [reader("notes.read"), writer("notes.edit")];
    const world = await createWorld({ tools, ask: person.ask });
    const names = ["notes.read", "notes.read", "notes.edit", "notes.read"];
    await world.execute(...names.map((name, i) => ({ id: `c${i}`, name, arguments: {} })));
    for (const id of ["c0", "c1", "c2", "c3"]) {
      const story = world.storyOf(id);
      expect(story.filter((type) => type === "permission.evaluated")).toHaveLength(1);
      expect(story.indexOf("permission.evaluated")).toBeLessThan(story.indexOf("tool.started"));
    }
  });

  test("the chain names every layer, and which entry decided", async () => {
    verifies("PERM-2");
    const { world } = await callOnce(watchedWriter("notes.edit"), {});
    const chain = chainOf(world);
    expect(new Set(chain.map(({ layer }) => layer))).toEqual(
      new Set(["runtime", "rules", "mode", "defaults", "grant"]),
    );
    expect(chain.filter(({ decisive }) => decisive === true)).toHaveLength(1);
  });
});

describe("one evaluator over layers", () => {
  const edit = () => watchedWriter("notes.edit", { prepare: planByInput() });

  test.each<[string, PermissionRule[]]>([
    ["after it", [deny({ path: "secret/**" }), allow({ tool: "notes.edit" })]],
    ["before it", [allow({ tool: "notes.edit" }), deny({ path: "secret/**" })]],
    ["naming the very file", [allow({ path: "/project/secret/a" }), deny({ path: "secret/**" })]],
  ])("a deny beats an allow that is %s", async (_, rules) => {
    verifies("PERM-2");
    const tool = edit();
    const input = { path: "/project/secret/a" };
    const got = await callOnce(tool, input, { roots: ROOTS, policy: { rules } });
    expect(got).toMatchObject({ status: "denied", code: "policy_denied", asked: 0 });
    expect(got.world.facts("tool.denied")).toHaveLength(1);
    expect(tool.inputs).toEqual([]);
  });

  test("a deny about the last of very many targets is still a deny", async () => {
    verifies("PERM-2");
    const many = Array.from({ length: 500 }, (_, i) => writes(`/project/a/${i}`));
    const tool = watchedWriter("notes.edit", { prepare: planOf(...many, writes("/project/b/x")) });
    const rules = [allow({ path: "**" }), deny({ path: "b/**" })];
    const got = await callOnce(tool, {}, { roots: ROOTS, policy: { rules } });
    expect(got).toMatchObject({ status: "denied", asked: 0 });
    const partly = [allow({ path: "a/**" })];
    expect(await callOnce(tool, {}, { roots: ROOTS, policy: { rules: partly } })).toMatchObject({
      asked: 1,
    });
  });

  test("a session grant does not lift a deny of the next run's rules", async () => {
    verifies("PERM-2", "PERM-5");
    const tool = edit();
    const person = personWho("allow_for_session");
    const world = await createWorld({ tools: [tool.tool], ask: person.ask, roots: ROOTS });
    await world.execute({ name: "notes.edit", arguments: { path: "/project/a" } });
    expect(world.session.grants()).toHaveLength(1);

    const strict = await world.session.startRun({ policy: { rules: [deny({ path: "a" })] } });
    const result = await strict.call("notes.edit", { path: "/project/a" });
    expect(result).toMatchObject({ status: "denied", error: { code: "policy_denied" } });
    expect(tool.inputs).toHaveLength(1);
  });

  test("an ask and an allow in one layer end in the question", async () => {
    verifies("PERM-2");
    const rules = [allow({ tool: "notes.*" }), ask({ path: "**/a" }), allow({ path: "**" })];
    const input = { path: "/project/a" };
    expect(await callOnce(edit(), input, { roots: ROOTS, policy: { rules } })).toMatchObject({
      status: "succeeded",
      asked: 1,
    });
  });

  test("a higher layer with an opinion decides over a lower one", async () => {
    verifies("PERM-2");
    const policy = { rules: [allow({ tool: "notes.edit" })] };
    expect(await callOnce(edit(), {}, { policy })).toMatchObject({ status: "succeeded", asked: 0 });
    const strict = { rules: [ask({ tool: "notes.read" })] };
    expect(await callOnce(watchedReader("notes.read"), {}, { policy: strict })).toMatchObject({
      status: "succeeded",
      asked: 1,
    });
  });

  test("changing the policy object while a question is open changes nothing", async () => {
    verifies("PERM-2", "PERM-9");
    const tool = edit();
    const rules = [deny({ path: "/project/a" })];
    const policy = { rules };
    const world = await createWorld({
      tools: [tool.tool],
      roots: ROOTS,
      policy,
      ask: () => ({ decision: "allow_once" }),
      hooks: [
        defineHook({
          id: "switch",
          event: "PreToolUse",
          run: () => {
            rules.length = 0;
          },
        }),
      ],
    });
    const [result] = await world.execute({
      name: "notes.edit",
      arguments: { path: "/project/a" },
    });
    expect(result).toMatchObject({ status: "denied", error: { code: "policy_denied" } });
  });
});

describe("defaults", () => {
  const inProject: WorldOptions = { roots: ROOTS };
  const mcp = (tools: AnyTool[]): ToolSource => ({ id: "docs", kind: "mcp", tools });

  test.each<[string, Watched, WorldOptions]>([
    ["a write", watchedWriter("notes.edit"), {}],
    [
      "a tool that does not say what it is",
      watchedWriter("notes.odd", { permission: undefined }),
      {},
    ],
    ["a dangerous tool", watchedReader("notes.danger", { tags: ["dangerous"] }), {}],
    ["a network tool", watchedReader("notes.get", { tags: ["network"] }), {}],
    [
      "a sensitive read",
      watchedReader("notes.env", { prepare: planOf(reads("/project/.env")) }),
      inProject,
    ],
  ])("%s asks", async (_, watched, options) => {
    verifies("PERM-3");
    expect(await callOnce(watched, {}, options)).toMatchObject({ status: "succeeded", asked: 1 });
  });

  test.each<[string, Watched, WorldOptions]>([
    ["a readonly call", watchedReader("notes.read"), {}],
    [
      "an ordinary read",
      watchedReader("notes.cat", { prepare: planOf(reads("/project/a")) }),
      inProject,
    ],
  ])("%s is allowed", async (_, watched, options) => {
    verifies("PERM-3");
    expect(await callOnce(watched, {}, options)).toMatchObject({ status: "succeeded", asked: 0 });
  });

  test("a declarative write asks", async () => {
    verifies("PERM-3");
    const { tool } = watchedWriter("notes.sync");
    const person = personWho("deny");
    const source: ToolSource = { id: "file", kind: "declarative", tools: [tool] };
    const world = await createWorld({ sources: [source], ask: person.ask });
    await world.execute({ name: "notes.sync", arguments: {} });
    expect(person.requests).toHaveLength(1);
  });

  test("an MCP tool asks no matter what it says of itself, unless the user marked it readonly", async () => {
    verifies("PERM-3");
    const { tool } = watchedReader("mcp.docs.find", { classify: () => ({ read_only: true }) });
    for (const [policy, asked] of [
      [{}, 1],
      [{ readonly_mcp: ["mcp.docs.*"] }, 0],
    ] as const) {
      const person = personWho("allow_once");
      const world = await createWorld({ sources: [mcp([tool])], ask: person.ask, policy });
      const [result] = await world.execute({ name: "mcp.docs.find", arguments: {} });
      expect(result?.status).toBe("succeeded");
      expect(person.requests).toHaveLength(asked);
    }
  });

  test("bookkeeping of our own never asks, so that a run works unattended", async () => {
    verifies("PERM-3");
    const { tool, inputs } = watchedReader("internal.load_skill");
    const source: ToolSource = { id: "skills", kind: "internal", tools: [tool] };
    const world = await createWorld({ sources: [source] });
    const [result] = await world.execute({ name: "internal.load_skill", arguments: {} });
    expect(result?.status).toBe("succeeded");
    expect(inputs).toHaveLength(1);
  });
});

describe("dangerous tools", () => {
  const purge = () => watchedWriter("notes.purge", { tags: ["dangerous"] });

  test.each<[string, PolicyInput]>([
    ["a wildcard", { rules: [allow({ tool: "*" }), allow({ tool: "notes.*" })] }],
    ["a wildcard that leaves out one letter", { rules: [allow({ tool: "notes.purg*" })] }],
    ["a tag rule", { rules: [allow({ tags: ["dangerous"] }), allow({ tags: ["write"] })] }],
    ["a mode", { mode: "orchestrator" }],
  ])("%s is not an explicit yes", async (_, policy) => {
    verifies("PERM-7");
    const tool = purge();
    const nobody = await createWorld({ tools: [tool.tool], policy });
    const [result] = await nobody.execute({ name: "notes.purge", arguments: {} });
    expect(result?.status).toBe("denied");
    expect(tool.inputs).toEqual([]);
    expect(await callOnce(purge(), {}, { policy })).toMatchObject({ asked: 1 });
  });

  test("a rule that names the tool exactly is one", async () => {
    verifies("PERM-7");
    const policy = { rules: [allow({ tool: "notes.purge" })] };
    expect(await callOnce(purge(), {}, { policy })).toMatchObject({
      status: "succeeded",
      asked: 0,
    });
  });

  test("a hook that passes is none", async () => {
    verifies("PERM-7", "HOOK-2");
    const pass = defineHook({ id: "yes", event: "PreToolUse", run: () => ({ decision: "pass" }) });
    const got = await callOnce(purge(), {}, { hooks: [pass] });
    expect(got.asked).toBe(1);
  });

  test("a dangerous tool that only reads needs one, too", async () => {
    verifies("PERM-7");
    const peek = watchedReader("notes.peek", { tags: ["dangerous"] });
    const policy = { rules: [allow({ tags: ["readonly"] })] };
    expect(await callOnce(peek, {}, { policy })).toMatchObject({ asked: 1 });
  });
});

test("calls that are judged alike share the record of it, and no reader can change it for the others", async () => {
  verifies("PERM-11");
  const world = await createWorld({ tools: [reader("notes.read")] });
  await world.execute({ name: "notes.read", arguments: {} });
  const [first] = world.facts("permission.evaluated");
  expect(() => Object.assign(first?.data as object, { decision: "deny" })).toThrow(TypeError);
  await world.execute({ name: "notes.read", arguments: {} });
  expect(world.facts("permission.evaluated").map(({ data }) => data.decision)).toEqual([
    "allow",
    "allow",
  ]);
});
