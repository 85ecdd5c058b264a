// SURF-2, 3 and 4: a surface is a hard boundary with a reason for everything outside it, and what may be
// asked of it.

import { RunRefused, type ExclusionReason } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { noRoom, ownSource, server } from "./sources.ts";
import { watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, writer, type WorldOptions } from "./world.ts";

describe("the boundary", () => {
  it("is hard: what is not on the surface is not sent, and a call of it is denied, on record", async () => {
    verifies("SURF-2");
    const { tool, inputs } = watchedWriter("a.write");
    const world = await createWorld({
      tools: [tool, reader("a.read")],
      mode: "plan",
      policy: allowAll,
    });
    expect((await world.run.tools()).tools.map(({ name }) => name)).toEqual(["a__read"]);
    for (const name of ["a.write", "a__write"]) {
      const [denied, after] = await world.execute(
        { id: name, name, arguments: {} },
        { name: "a.read", arguments: {} },
      );
      expect(denied).toMatchObject({
        tool_name: "a.write",
        status: "denied",
        is_error: true,
        error: { code: "tool_not_available" },
      });
      expect(after?.status, "the run goes on").toBe("succeeded");
      expect(world.storyOf(name)).toEqual(["tool.requested", "tool.denied", "tool.yielded"]);
    }
    expect(inputs).toEqual([]);
  });

  it.each<[ExclusionReason, string, WorldOptions]>([
    ["role_not_allowed", "agent.create_sub_agent", { role: "sub" }],
    ["mode_restricted", "a.write", { mode: "plan" }],
    ["policy_blocked", "a.write", { policy: { rules: [{ tool: "a.*", decision: "deny" }] } }],
    ["policy_blocked", "a.write", { taskDenied: ["a.wr*"] }],
    ["not_requested", "a.write", { allowedTools: ["a.read"] }],
    ["not_requested", "a.read", { role: "worker" }],
    ["disabled", "a.write", { config: { tools: { disabled: ["a.write"] } } }],
    ["disabled", "a.off", {}],
    ["nothing_deferred", "internal.search_tools", {}],
    ["setup_required", "mcp.s.setup", {}],
    ["server_failed", "mcp.s.failed", {}],
    ["definition_changed", "mcp.s.changed", {}],
    ["invalid_definition", "mcp.s.bad", {}],
    ["model_unsupported", "mcp.s.wide", {}],
  ])(
    "says %s of %s, on the surface, in the record and to the model",
    async (reason, name, options) => {
      verifies("SURF-3", "SURF-2");
      const excluded = (["setup_required", "server_failed", "definition_changed"] as const).map(
        (why) => ({
          tool_name: `mcp.s.${why.split("_").at(why === "setup_required" ? 0 : 1)}`,
          reason: why,
          detail: "why",
        }),
      );
      const wide = { not: {}, type: "object" };
      const tools = [
        reader("mcp.s.bad", 0, { title: 7 as never }),
        reader("mcp.s.wide", 0, { input_schema: wide }),
      ];
      const world = await createWorld({
        tools: [
          reader("a.read"),
          writer("a.write"),
          reader("a.off", 0, { isEnabled: () => false }),
        ],
        sources: [ownSource("agent", ["agent.create_sub_agent"]), server("s", tools, { excluded })],
        ...options,
      });
      expect(world.run.surface.standing.get(name)).toMatchObject({ state: "excluded", reason });
      const [catalog] = world.facts("tool.catalog.resolved");
      expect(catalog?.data.tools).toContainEqual(
        expect.objectContaining({ tool_name: name, state: "excluded", reason }),
      );
      const [result] = await world.execute({ name, arguments: {} });
      expect(result?.error?.code).toBe("tool_not_available");
      expect(textOf(result)).toContain(reason);
    },
  );
});

describe("suggested_tools", () => {
  it("is no permission, no selection and no error", async () => {
    verifies("SURF-4");
    const world = await createWorld({
      tools: [reader("a.read"), writer("a.write")],
      sources: [ownSource("agent", ["agent.create_sub_agent"])],
      role: "sub",
      mode: "plan",
      suggestedTools: ["a.write", "agent.create_sub_agent", "nobody.here"],
    });
    expect(world.run.surface.loaded.map(({ name }) => name)).toEqual(["a.read"]);
  });

  it("keeps a tool loaded longer than its neighbours", async () => {
    verifies("SURF-4", "SEARCH-1");
    const long = { description: "d".repeat(2000) };
    const options = {
      sources: [
        server(
          "s",
          ["a", "b", "c", "d"].map((n) => reader(`mcp.s.${n}`, 0, long)),
        ),
      ],
      config: { tools: { defer_budget_tokens: 1500 } },
    };
    const plain = await createWorld(options);
    const loaded = plain.run.surface.loaded.map(({ name }) => name);
    const deferred = plain.run.surface.deferred.map(({ name }) => name);
    expect(
      loaded.some((name) => name.startsWith("mcp.")),
      "some fit",
    ).toBe(true);
    const wanted = deferred[0] ?? "";
    const suggested = await createWorld({ ...options, suggestedTools: [wanted] });
    expect(suggested.run.surface.loaded.map(({ name }) => name)).toContain(wanted);
    const none = await createWorld({ ...options, config: noRoom, suggestedTools: [wanted] });
    expect(none.run.surface.deferred.map(({ name }) => name)).toContain(wanted);
  });
});

describe("allowed_tools", () => {
  const base: WorldOptions = {
    tools: [reader("code.read"), writer("code.write", 0, { aliases: ["save"] })],
    sources: [
      server("s", ["list"]),
      ownSource("agent", ["agent.create_sub_agent", "agent.task_get"]),
      ownSource("internal", ["internal.load_skill"]),
    ],
  };
  const loadedIn = async (options: WorldOptions) =>
    (await createWorld({ ...base, ...options })).run.surface.loaded.map(({ name }) => name);

  it("selects within the ceiling of the role, not within its default", async () => {
    verifies("SURF-4", "SURF-6");
    expect(await loadedIn({ allowedTools: ["code.read"] })).toEqual(["code.read"]);
    expect(await loadedIn({ allowedTools: [] })).toEqual([]);
    expect(await loadedIn({ role: "worker", allowedTools: ["save", "mcp.s.list"] })).toEqual([
      "code.write",
      "mcp.s.list",
    ]);
    expect(await loadedIn({ role: "sub", allowedTools: ["code.*", "internal.*"] })).toEqual([
      "code.read",
      "code.write",
      "internal.load_skill",
    ]);
  });

  it.each<[string, WorldOptions, string[]]>([
    ["unknown", { allowedTools: ["code.raed"] }, ["unknown_tool"]],
    ["unknown in another case", { allowedTools: ["Code.Read"] }, ["unknown_tool"]],
    [
      "above the ceiling",
      { role: "sub", allowedTools: ["agent.create_sub_agent"] },
      ["tool_excluded"],
    ],
    ["a pattern above the ceiling", { role: "fork", allowedTools: ["agent.*"] }, ["tool_excluded"]],
    ["not for this mode", { mode: "plan", allowedTools: ["code.write"] }, ["tool_excluded"]],
    [
      "denied by policy",
      { allowedTools: ["save"], policy: { rules: [{ tool: "code.write", decision: "deny" }] } },
      ["tool_excluded"],
    ],
    [
      "switched off",
      { allowedTools: ["code.read"], config: { tools: { disabled: ["code.*"] } } },
      ["tool_excluded"],
    ],
    [
      "wrong more than once",
      { role: "worker", allowedTools: ["nobody.here", "agent.create_sub_agent", "code.read"] },
      ["unknown_tool", "tool_excluded"],
    ],
  ])("with a name that is %s is an error before anything starts", async (_, options, codes) => {
    verifies("SURF-4");
    const world = await createWorld(base);
    const before = world.facts().length;
    const { config, policy, ...rest } = options;
    const target = config === undefined ? world : await createWorld({ ...base, config });
    const refused = await target.session
      .startRun({ ...rest, policy })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RunRefused);
    expect((refused as RunRefused).problems.map(({ code }) => code)).toEqual(codes);
    expect(world.facts()).toHaveLength(before);
  });

  it("as a pattern means the same in any order tools were registered", async () => {
    verifies("SURF-1", "SURF-4");
    const off = reader("mcp.s.off", 0, { isEnabled: () => false });
    const wide = reader("mcp.s.wide", 0, { input_schema: { type: "object", not: {} } });
    const outcomes = [];
    for (const tools of [
      [off, wide],
      [wide, off],
    ]) {
      const started = createWorld({ sources: [server("s", tools)], allowedTools: ["mcp.s.*"] });
      outcomes.push(
        await started.then(
          () => "started",
          (error: unknown) => String(error),
        ),
      );
    }
    expect(outcomes[0]).toBe(outcomes[1]);
  });

  it("omitted, gives a child its role's default and never its parent's set", async () => {
    verifies("SURF-4");
    const world = await createWorld({ ...base, allowedTools: ["code.read"] });
    const { run_id, agent_id } = world.run.identity;
    const parent = { run_id, agent_id, policy: world.run.policy };
    const child = await world.session.startRun({ role: "sub", parent });
    expect(child.surface.loaded.map(({ name }) => name)).toEqual([
      "code.read",
      "code.write",
      "internal.load_skill",
      "mcp.s.list",
    ]);
  });
});
