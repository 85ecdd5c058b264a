// SURF-7 and SURF-8: the order a model sees, revision by revision, and the fact each revision leaves.

import type { AnyTool, CatalogEntry, CatalogRecord, DefinitionsRecord, Fact } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { setStage, type Stage } from "./drive.ts";
import { declared, noRoom, ownSource, server } from "./sources.ts";
import { allowAll, createWorld, reader, writer } from "./world.ts";

const select = (...names: string[]) => ({
  name: "internal.search_tools",
  arguments: { query: `select:${names.join(",")}` },
});

async function shown({ run }: Pick<Stage, "run">): Promise<string[]> {
  return (await run.tools()).tools.map(({ name }) => name);
}

function catalogOf(fact: Fact | undefined): CatalogRecord {
  return fact?.data as unknown as CatalogRecord;
}

describe("the order of a model's tools", () => {
  it("is built-in, declarative, servers, each by name, however they were registered", async () => {
    verifies("SURF-7");
    const world = await createWorld({
      tools: [reader("zeta.one"), reader("code.read_file"), reader("Alpha.one")],
      sources: [
        server("z", ["b", "a"]),
        declared("d", [reader("aaa.late"), reader("aaa.early")]),
        server("b", ["z"]),
        ownSource("internal", ["internal.load_skill"]),
        ownSource("agent", ["agent.inspect_agent"]),
      ],
    });
    expect(await shown(world)).toEqual([
      "Alpha__one",
      "agent__inspect_agent",
      "code__read_file",
      "internal__load_skill",
      "zeta__one",
      "aaa__early",
      "aaa__late",
      "mcp__b__z",
      "mcp__z__a",
      "mcp__z__b",
    ]);
  });

  it("appends what is loaded later, in load order, and moves nothing", async () => {
    verifies("SURF-7", "SEARCH-3");
    const stage = await setStage({
      tools: [reader("code.read_file")],
      sources: [server("s", ["a", "b", "c", "d"])],
      config: noRoom,
    });
    const first = await shown(stage);
    await stage.run.execute([select("mcp.s.d"), select("mcp.s.b")]);
    const second = await shown(stage);
    expect(second).toEqual([...first, "mcp__s__d", "mcp__s__b"]);
    await stage.run.execute([select("mcp.s.a")]);
    expect(await shown(stage)).toEqual([...second, "mcp__s__a"]);
  });

  it("keeps its places when tools come, change and go in the middle of a run", async () => {
    verifies("SURF-7", "REG-3");
    const stage = await setStage({ tools: [reader("b.tool"), reader("d.tool")] });
    const { registry } = stage.kernel;
    const handle = registry.register([reader("a.tool"), reader("c.tool")]);
    const other = registry.open(server("s", ["x"]));
    expect(await shown(stage)).toEqual(["b__tool", "d__tool", "a__tool", "c__tool", "mcp__s__x"]);
    handle.set([reader("a.tool", 0, { description: "Changed" }), reader("c.tool")]);
    expect(await shown(stage)).toEqual(["b__tool", "d__tool", "a__tool", "c__tool", "mcp__s__x"]);
    other.close();
    handle.set([reader("c.tool")]);
    expect(await shown(stage)).toEqual(["b__tool", "d__tool", "c__tool"]);
  });
});

describe("a revision", () => {
  it("gives two requests the same bytes, and so does the same run made again", async () => {
    verifies("SURF-7");
    const options = () => ({
      tools: [reader("a.tool", 0, { prompt: () => "How." }), writer("b.tool")],
      sources: [server("s", ["x", "y"]), declared("d", [reader("d.tool")])],
    });
    const stage = await setStage(options());
    const first = JSON.stringify((await stage.run.tools()).tools);
    await stage.run.execute([{ name: "a.tool", arguments: {} }]);
    expect(JSON.stringify((await stage.run.tools()).tools)).toBe(first);
    stage.kernel.registry.register(reader("z.off", 0, { isEnabled: () => false }));
    expect(JSON.stringify((await stage.run.tools()).tools)).toBe(first);
    const twin = await setStage(options());
    expect(JSON.stringify((await twin.run.tools()).tools)).toBe(first);
  });

  it("is new with every change, each with a fact of its own, and only then", async () => {
    verifies("SURF-7", "SURF-8");
    const stage = await setStage({ tools: [reader("a.tool")] });
    const revisions = () =>
      stage.facts("tool.catalog.resolved").map((fact) => catalogOf(fact).revision);
    await stage.run.tools();
    await stage.run.tools();
    expect([revisions(), stage.run.surface.revision]).toEqual([[1], 1]);
    const handle = stage.kernel.registry.register(reader("b.tool"));
    await stage.run.tools();
    await stage.run.tools();
    expect(revisions()).toEqual([1, 2]);
    handle.set([reader("b.tool")]);
    await stage.run.tools();
    expect(revisions(), "the same again is no change").toEqual([1, 2]);
    handle.close();
    await stage.run.tools();
    expect([revisions(), stage.run.surface.revision]).toEqual([[1, 2, 3], 3]);
  });

  it("is one, though two requests ask for it at once", async () => {
    verifies("SURF-7", "SURF-8");
    const stage = await setStage({ tools: [reader("a.tool", 0, { isEnabled: async () => true })] });
    stage.kernel.registry.register(reader("b.tool"));
    const [one, two] = await Promise.all([stage.run.tools(), stage.run.tools()]);
    expect(JSON.stringify(one.tools)).toBe(JSON.stringify(two.tools));
    const revisions = stage.facts("tool.catalog.resolved").map((fact) => catalogOf(fact).revision);
    expect(revisions).toEqual([1, 2]);
  });

  it("is never an older one than the last, though what it waits for answers out of order", async () => {
    verifies("SURF-7", "REG-4");
    const answers: ((yes: boolean) => void)[] = [];
    let holds = false;
    const asked = reader("a.tool", 0, {
      isEnabled: async () => {
        if (!holds) return true;
        return new Promise<boolean>((resolve) => {
          answers.push(resolve);
        });
      },
    });
    const stage = await setStage({ tools: [asked] });
    holds = true;
    stage.kernel.registry.register(reader("b.tool"));
    const early = stage.run.tools();
    await stage.clock.settle();
    stage.kernel.registry.register(reader("c.tool"));
    const late = stage.run.tools();
    for (let i = 0; i < 4; i += 1) {
      await stage.clock.settle();
      for (const answer of answers.splice(0).toReversed()) {
        answer(true);
        await stage.clock.settle();
      }
    }
    await early;
    const { tools } = await late;
    expect(tools.map(({ name }) => name).toSorted()).toEqual(["a__tool", "b__tool", "c__tool"]);
    expect(await shown(stage)).toHaveLength(3);
    const revisions = stage.facts("tool.catalog.resolved").map((fact) => catalogOf(fact).revision);
    expect(revisions).toEqual(revisions.map((_, i) => i + 1));
  });

  it("is what a call is recorded under", async () => {
    verifies("SURF-7");
    const stage = await setStage({ tools: [reader("a.tool")] });
    await stage.run.execute([{ name: "a.tool", arguments: {} }]);
    stage.kernel.registry.register(reader("b.tool"));
    await stage.run.execute([{ name: "a.tool", arguments: {} }]);
    await stage.run.tools();
    await stage.run.execute([{ name: "b.tool", arguments: {} }]);
    expect(stage.facts("tool.requested").map(({ data }) => data.surface_revision)).toEqual([
      1, 1, 2,
    ]);
  });
});

describe("the catalog fact", () => {
  async function entries(options: Parameters<typeof setStage>[0]) {
    const stage = await setStage(options);
    const record = catalogOf(stage.facts("tool.catalog.resolved")[0]);
    return { record, byName: new Map(record.tools.map((entry) => [entry.tool_name, entry])) };
  }

  it("reports everything the law names of each loaded tool", async () => {
    verifies("SURF-8");
    const input_schema = { type: "object", properties: { path: { const: "a" } } };
    const { record, byName } = await entries({
      tools: [
        writer("files.put", 0, {
          input_schema,
          tags: ["filesystem", "dangerous", "billing"],
          interrupt_behavior: "cancel",
        }),
      ],
    });
    expect(record).toMatchObject({
      revision: 1,
      role: "main",
      mode: "normal",
      profile: "portable",
      counts: { loaded: 1, deferred: 0, excluded: 1 },
    });
    expect(byName.get("files.put")).toEqual({
      tool_name: "files.put",
      state: "loaded",
      description: "The tool files.put, for tests",
      input_schema,
      schema: "core",
      capabilities: expect.arrayContaining([
        "write",
        "filesystem",
        "dangerous",
        "billing",
      ]) as string[],
      policy: "ask",
      runtime_owner: "local",
      is_read_only: false,
      is_concurrency_safe: false,
      is_destructive: true,
      is_open_world: false,
      interrupt_behavior: "cancel",
      declared: ["permission", "interrupt_behavior"],
      metadata_ref: expect.stringMatching(/^artifact:art_\w+#files\.put$/) as string,
    });
  });

  it.each<[string, Partial<AnyTool>, Partial<CatalogEntry>]>([
    [
      "a reader",
      { permission: "readonly" },
      { capabilities: ["read"], policy: "allowed", is_read_only: true },
    ],
    [
      "the network",
      { tags: ["network"] },
      { capabilities: ["network", "write"], is_open_world: true },
    ],
    ["a shell", { tags: ["shell"] }, { capabilities: ["shell", "write"] }],
    ["a browser", { tags: ["browser"] }, { capabilities: ["browser", "write"] }],
    ["artifacts", { tags: ["artifact"] }, { capabilities: ["artifact", "write"] }],
    [
      "where it comes from, which is no capability",
      { tags: ["code"] },
      { capabilities: ["write"] },
    ],
  ])("takes capabilities from tags: %s", async (_, about, expected) => {
    verifies("SURF-8");
    const tool = writer("a.tool", 0, { ...about });
    const { byName } = await entries({ tools: [tool] });
    const { capabilities = [], ...rest } = byName.get("a.tool") ?? {};
    expect({ ...rest, capabilities: capabilities.toSorted() }).toMatchObject(expected);
  });

  it("names the policy and the owner of each tool", async () => {
    verifies("SURF-8");
    const { byName } = await entries({
      tools: [reader("a.free"), writer("a.asks"), writer("a.denied"), reader("a.off")],
      sources: [
        server("s", ["list"]),
        ownSource("agent", ["agent.create_sub_agent"], {
          starts_agent: true,
          concurrency_safe: false,
        }),
        { id: "tasks", kind: "agent", tools: [reader("agent.task_get")] },
      ],
      mode: "orchestrator",
      policy: { rules: [{ tool: "a.denied", decision: "deny" }] },
      config: { tools: { disabled: ["a.off"] } },
    });
    const told = [...byName.values()].map(({ tool_name, policy, runtime_owner }) => [
      tool_name,
      policy,
      runtime_owner,
    ]);
    expect(told).toEqual(
      expect.arrayContaining([
        ["a.free", "allowed", "local"],
        ["a.asks", "ask", "local"],
        ["a.denied", "denied", "local"],
        ["a.off", "unavailable", "local"],
        ["mcp.s.list", "ask", "mcp_server"],
        ["agent.create_sub_agent", "allowed", "subagent"],
        ["agent.task_get", "allowed", "workflow"],
      ]),
    );
  });

  it("refers to a schema the model was not sent, and gives the reason of what it has not", async () => {
    verifies("SURF-8", "SURF-3");
    const { byName } = await entries({
      sources: [server("s", ["late"])],
      tools: [writer("a.tool")],
      mode: "plan",
      config: noRoom,
      policy: { readonly_mcp: ["mcp.s.late"] },
    });
    const late = byName.get("mcp.s.late");
    expect(late).toMatchObject({
      state: "deferred",
      metadata_ref: expect.stringMatching(/^artifact:art_\w+#mcp\.s\.late$/) as string,
    });
    expect(late).not.toHaveProperty("input_schema");
    expect(byName.get("a.tool")).toMatchObject({
      state: "excluded",
      reason: "mode_restricted",
      policy: "unavailable",
    });
  });

  it("sends afterwards only what changed, and on what revision that builds", async () => {
    verifies("SURF-8", "SURF-7");
    const stage = await setStage({
      tools: [reader("a.stays")],
      sources: [server("s", ["late"])],
      config: noRoom,
      policy: allowAll,
    });
    const { registry } = stage.kernel;
    const handle = registry.register([
      reader("b.changes", 0, { always_load: true }),
      reader("b.goes"),
    ]);
    await stage.run.tools();
    await stage.run.execute([select("mcp.s.late")]);
    handle.set([reader("b.changes", 0, { always_load: true, description: "New" })]);
    await stage.run.tools();
    const records = stage.facts("tool.catalog.resolved").map(catalogOf);
    expect(records.map(({ base_revision }) => base_revision)).toEqual([undefined, 1, 2]);
    const [, , last] = records;
    expect(last?.tools.map(({ tool_name, state }) => [tool_name, state])).toEqual([
      ["b.changes", "loaded"],
      ["mcp.s.late", "loaded"],
    ]);
    const [of = "", name] = last?.tools[0]?.metadata_ref?.split("#") ?? [];
    const kept = await stage.artifacts.read(of.replace("artifact:", ""));
    const { tools } = JSON.parse(new TextDecoder().decode(kept)) as DefinitionsRecord;
    expect(tools.find((tool) => tool.name === name)).toMatchObject({ description: "New" });
    expect(last?.removed).toEqual(["b.goes"]);
    const standing = [...stage.run.surface.standing];
    expect(replayed(records), "the facts together give the surface").toEqual(
      new Map(standing.map(([name, { state }]) => [name, state])),
    );
  });
});

/** Every tool's state, from the facts alone. */
function replayed(records: readonly CatalogRecord[]): Map<string, string> {
  const states = new Map<string, string>();
  for (const { tools, removed = [] } of records) {
    for (const { tool_name, state } of tools) states.set(tool_name, state);
    for (const name of removed) states.delete(name);
  }
  return states;
}
