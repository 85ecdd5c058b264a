// SURF-1, SURF-3 and SURF-7 over random registries and requests: a surface is a pure function of its inputs
// and accounts for every tool.

import {
  compilePolicy,
  createRegistry,
  PORTABLE_PROFILE,
  resolveSurface,
  type AnyTool,
  type SurfaceRequest,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { createWorld, reader, writer } from "./world.ts";

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
