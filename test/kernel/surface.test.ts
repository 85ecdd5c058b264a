// SURF-1…4: a surface is a pure function of its inputs, a hard boundary, and an answer for every tool.

import {
  compilePolicy,
  createRegistry,
  PORTABLE_PROFILE,
  resolveSurface,
  RunRefused,
  type AnyTool,
  type ExclusionReason,
  type SurfaceRequest,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { noRoom, ownSource, server } from "./sources.ts";
import { watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, writer, type WorldOptions } from "./world.ts";

const KINDS = ["code", "declarative", "mcp", "agent", "internal"] as const;

const OWN = {
  agent: ["agent.create_sub_agent", "agent.task_get", "agent.task_claim_step", "agent.other"],
  internal: ["internal.search_tools", "internal.load_skill", "internal.write_memory"],
};

interface Spec {
  kind: (typeof KINDS)[number];
  n: number;
  permission: "readonly" | "write";
  size: number;
  extended: boolean;
  flags: { defer?: boolean; always_load?: boolean };
}

const anySpec: fc.Arbitrary<Spec> = fc.record({
  kind: fc.constantFrom(...KINDS),
  n: fc.nat(6),
  permission: fc.constantFrom("readonly", "write"),
  size: fc.nat(400),
  extended: fc.boolean(),
  flags: fc.record({ defer: fc.boolean(), always_load: fc.boolean() }, { requiredKeys: [] }),
});

function nameOf({ kind, n }: Spec): string {
  if (kind === "agent" || kind === "internal") return OWN[kind][n % OWN[kind].length] ?? "";
  if (kind === "mcp") return `mcp.s.t${n}`;
  return n % 2 === 0 && kind === "code" ? `code.t${n}` : `${kind.slice(0, 3)}.t${n}`;
}

function toolOf(spec: Spec): AnyTool {
  const target = {
    oneOf: [
      { type: "object", required: ["a"] },
      { type: "object", required: ["b"] },
    ],
  };
  return reader(nameOf(spec), 0, {
    permission: spec.permission,
    ...(spec.permission === "write" ? { concurrency_safe: false } : {}),
    description: "d".repeat(spec.size + 1),
    ...spec.flags,
    ...(spec.extended && spec.kind === "mcp"
      ? { input_schema: { type: "object", properties: { target } } }
      : {}),
  });
}

const anyRequest = fc.record({
  specs: fc.uniqueArray(anySpec, { maxLength: 14, selector: nameOf }),
  lost: fc.array(fc.nat(8), { maxLength: 4 }),
  role: fc.constantFrom("main", "sub", "fork", "worker"),
  mode: fc.constantFrom("normal", "plan", "orchestrator"),
  denied: fc.option(fc.constantFrom("mcp.*", "code.t2", "*", "internal.search_tools")),
  disabled: fc.option(fc.constantFrom("dec.*", "mcp.s.t1")),
  taskDenied: fc.option(fc.constantFrom("code.*", "mcp.s.t3")),
  refused: fc.array(fc.constantFrom("code.t0", "mcp.s.t0")),
  allowed: fc.option(fc.array(fc.constantFrom("mcp.*", "code.*", "dec.*", "agent.*"))),
  suggested: fc.array(fc.constantFrom("mcp.s.t5", "dec.t1", "nobody.here")),
  deferBudgetTokens: fc.constantFrom(0, 50, 200, 10_000),
  max_tools: fc.constantFrom(3, 128),
  extended_schemas: fc.boolean(),
  later: fc.array(fc.constantFrom("mcp.s.t1", "mcp.s.t2", "dec.t1", "gone.tool")),
});

type Drawn = typeof anyRequest extends fc.Arbitrary<infer T> ? T : never;

/** The request, with the tools registered in the order given. */
function requestOf(drawn: Drawn, specs: readonly Spec[] = drawn.specs): SurfaceRequest {
  const registry = createRegistry();
  const kindsInOrder = [...new Set([...specs.map(({ kind }) => kind), "mcp" as const])];
  for (const kind of kindsInOrder) {
    const tools = specs.filter((spec) => spec.kind === kind).map(toolOf);
    const excluded = drawn.lost.map((n) => ({
      tool_name: `mcp.s.t${n}`,
      reason: "server_failed" as const,
      detail: "exit 1",
    }));
    registry.open({ id: "s", kind, tools, ...(kind === "mcp" ? { excluded } : {}) });
  }
  const rules = drawn.denied === null ? [] : [{ tool: drawn.denied, decision: "deny" as const }];
  const compiled = compilePolicy({ rules, mode: drawn.mode });
  if (!compiled.ok) throw new Error("bad policy");
  const { role, mode, deferBudgetTokens, max_tools, extended_schemas } = drawn;
  return {
    registry: registry.snapshot(),
    role,
    mode,
    policy: compiled.policy,
    profile: { ...PORTABLE_PROFILE, max_tools, extended_schemas },
    deferBudgetTokens,
    refusedByThemselves: new Map(drawn.refused.map((name) => [name, "said no"])),
    suggestedTools: drawn.suggested,
    loadedLater: drawn.later,
    ...(drawn.disabled === null ? {} : { disabled: [drawn.disabled] }),
    ...(drawn.taskDenied === null ? {} : { taskDenied: [drawn.taskDenied] }),
    ...(drawn.allowed === null ? {} : { allowedTools: drawn.allowed }),
  };
}

function shownBy(request: SurfaceRequest) {
  const resolved = resolveSurface(request);
  if (!resolved.ok) return { problems: resolved.problems.map(({ code }) => code).toSorted() };
  const { loaded, deferred, excluded } = resolved.surface;
  return {
    loaded: loaded.map(({ name }) => name),
    deferred: deferred.map(({ name }) => name),
    excluded,
  };
}

describe("a surface", () => {
  it("is the same for the same inputs, leaves them as they were, and owes nothing to chance", () => {
    verifies("SURF-1", "SURF-7");
    fc.assert(
      fc.property(anyRequest, fc.infiniteStream(fc.nat()), (drawn, shuffle) => {
        const request = Object.freeze(requestOf(drawn));
        const names = [...request.registry.tools.keys()];
        const first = resolveSurface(request);
        expect(resolveSurface(request)).toEqual(first);
        expect([...request.registry.tools.keys()]).toEqual(names);
        const shuffled = drawn.specs
          .map((spec) => ({ spec, key: Number(shuffle.next().value) }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ spec }) => spec);
        expect(shownBy(requestOf(drawn, shuffled))).toEqual(shownBy(request));
      }),
    );
  });

  it("accounts for every tool exactly once, each exclusion with a reason and what it means", () => {
    verifies("SURF-3");
    fc.assert(
      fc.property(anyRequest, (drawn) => {
        const request = requestOf(drawn);
        const resolved = resolveSurface(request);
        if (!resolved.ok) {
          for (const { message } of resolved.problems) expect(message).not.toBe("");
          return;
        }
        const { loaded, deferred, excluded, standing } = resolved.surface;
        const listed = [
          ...loaded.map(({ name }) => name),
          ...deferred.map(({ name }) => name),
          ...excluded.map(({ tool_name }) => tool_name),
        ];
        const known = new Set([
          ...request.registry.tools.keys(),
          ...request.registry.excluded.map(({ tool_name }) => tool_name),
        ]);
        expect(listed.toSorted()).toEqual([...known].toSorted());
        expect([...standing.keys()].toSorted()).toEqual([...known].toSorted());
        for (const { reason, detail } of excluded) expect([reason, detail]).not.toContain("");
        for (const { name } of loaded) expect(standing.get(name)?.state).toBe("loaded");
        for (const { name } of deferred) expect(standing.get(name)?.state).toBe("deferred");
      }),
    );
  });

  it("is computed for each run of its own", async () => {
    verifies("SURF-1");
    const world = await createWorld({ tools: [reader("a.one"), writer("a.two")] });
    const plan = await world.session.startRun({ mode: "plan" });
    expect(world.run.surface.loaded.map(({ name }) => name)).toEqual(["a.one", "a.two"]);
    expect(plan.surface.loaded.map(({ name }) => name)).toEqual(["a.one"]);
  });
});

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
      const wide = { not: { required: ["a"] }, type: "object" };
      const tools = [
        reader("mcp.s.bad", 0, { description: "" }),
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
      expect(catalog?.data["tools"]).toContainEqual(
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
      .startRun({ ...rest, ...(policy === undefined ? {} : { policy }) })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RunRefused);
    expect((refused as RunRefused).problems.map(({ code }) => code)).toEqual(codes);
    expect(world.facts()).toHaveLength(before);
  });

  it("left out, gives a child its role's default and never its parent's set", async () => {
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
