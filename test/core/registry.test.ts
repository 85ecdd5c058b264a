// REG-1, 2 and 4, and REG-3 as far as sources come and go: who may register what, and what becomes of what
// cannot be taken.

import {
  createKernel,
  createRegistry,
  RegistrationError,
  type AnyTool,
  type SourceHandle,
  type ToolSource,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { setStage } from "./drive.ts";
import { declared, server, thrownBy } from "./sources.ts";
import { allowAll, createWorld, reader, textOf } from "./world.ts";

function namesIn(registry: ReturnType<typeof createRegistry>): string[] {
  return [...registry.snapshot().tools.keys()].toSorted();
}

describe("a source", () => {
  it("of every kind comes in through one interface, and says who may be trusted", () => {
    verifies("REG-1");
    const registry = createRegistry();
    const given: [ToolSource, boolean][] = [
      [{ id: "c", kind: "code", tools: [reader("a.code")] }, true],
      [{ id: "d", kind: "declarative", tools: [reader("a.declared")] }, true],
      [{ id: "a", kind: "agent", tools: [reader("agent.plan_template")] }, true],
      [{ id: "i", kind: "internal", tools: [reader("internal.load_skill")] }, true],
      [{ id: "m", kind: "mcp", tools: [reader("mcp.m.list")] }, false],
      [{ id: "x", kind: "code", trusted: false, tools: [reader("x.tool")] }, false],
    ];
    for (const [source, trusted] of given) {
      expect(registry.open(source).source).toMatchObject({ id: source.id, trusted });
      const tool = registry.current(source.tools[0]?.name ?? "");
      expect(tool?.source).toMatchObject({ kind: source.kind, id: source.id, trusted });
      expect(tool?.tags).toContain(source.kind);
    }
  });

  it("that is external takes no reserved name, with any kind it claims", () => {
    verifies("REG-1", "NAME-1");
    for (const kind of ["agent", "internal"] as const) {
      const registry = createRegistry();
      const outcome = thrownBy(() =>
        registry.open({ id: "x", kind, trusted: false, tools: [reader(`${kind}.tool`)] }),
      );
      expect(outcome, kind).toBeInstanceOf(RegistrationError);
    }
  });

  it("that is external shadows nothing: neither what is there nor an alias of it", () => {
    verifies("REG-1", "NAME-4");
    const registry = createRegistry();
    registry.register(reader("notes.read", 0, { aliases: ["read_note"] }));
    registry.open(
      server("s", [
        reader("mcp.s.one", 0, { aliases: ["notes.read"] }),
        reader("mcp.s.two", 0, { aliases: ["read_note"] }),
        reader("mcp.s.three"),
      ]),
    );
    expect(namesIn(registry)).toEqual(["mcp.s.three", "notes.read"]);
    expect(registry.snapshot().excluded.map(({ tool_name }) => tool_name)).toEqual([
      "mcp.s.one",
      "mcp.s.two",
    ]);
    expect(registry.snapshot().aliases.get("read_note")).toBe("notes.read");
  });

  it("opened twice under one id is refused", () => {
    verifies("REG-1");
    const registry = createRegistry();
    registry.open(server("git", ["a"]));
    expect(() => registry.open(server("git", ["b"]))).toThrow(/open already/);
    expect(namesIn(registry)).toEqual(["mcp.git.a"]);
  });

  it("that closes takes exactly its tools with it, once", () => {
    verifies("REG-3");
    const registry = createRegistry();
    const first = registry.register([reader("a.one"), reader("a.two", 0, { aliases: ["two"] })]);
    registry.register(reader("b.one"));
    registry.open(server("s", ["x"]));
    first.close();
    expect(namesIn(registry)).toEqual(["b.one", "mcp.s.x"]);
    expect(registry.snapshot().aliases.size).toBe(0);
    const again = registry.register([reader("a.one")]);
    first.close();
    expect(namesIn(registry), "closing twice takes nothing of others").toContain("a.one");
    expect(() => first.set([reader("a.three")])).toThrow(/closed/);
    again.close();
  });

  it("that renews itself replaces all of its tools, or with an error none", () => {
    verifies("REG-3", "REG-2");
    const registry = createRegistry();
    const handle = registry.register([reader("a.one"), reader("a.two")]);
    handle.set([reader("a.two"), reader("a.three")]);
    expect(namesIn(registry)).toEqual(["a.three", "a.two"]);
    expect(() => handle.set([reader("a.four"), reader("no dot")])).toThrow(RegistrationError);
    expect(namesIn(registry)).toEqual(["a.three", "a.two"]);
  });

  it("leaves the registry as if it had never been, in any order of opening and closing", () => {
    verifies("REG-3");
    const step = fc.record({ source: fc.nat(3), open: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const registry = createRegistry();
        const open = new Map<number, SourceHandle>();
        for (const { source, open: opens } of steps) {
          if (opens && !open.has(source)) {
            const tools = [
              reader(`s${source}.a`, 0, { aliases: [`al${source}`] }),
              reader(`s${source}.b`),
            ];
            open.set(source, registry.open({ id: `${source}`, kind: "code", tools }));
          } else if (!opens) {
            open.get(source)?.close();
            open.delete(source);
          }
          const expected = [...open.keys()].flatMap((n) => [`s${n}.a`, `s${n}.b`]).toSorted();
          expect(namesIn(registry)).toEqual(expected);
          expect(registry.snapshot().aliases.size).toBe(open.size);
        }
      }),
    );
  });

  it("cannot change a snapshot that was taken", () => {
    verifies("REG-3");
    const registry = createRegistry();
    const handle = registry.register(reader("a.one"));
    const before = registry.snapshot();
    handle.set([reader("a.two")]);
    expect([...before.tools.keys()]).toEqual(["a.one"]);
    expect(registry.snapshot().revision).toBeGreaterThan(before.revision);
  });
});

describe("a bad definition", () => {
  const bad = { ...reader("tools.bad"), timeout_ms: -5, description: "" } as AnyTool;

  it("fails the start, naming the file, the tool and every field", () => {
    verifies("REG-2");
    const file = "/home/me/.soong/tools/bad.json";
    const sources = [declared("d", [reader("tools.good"), bad], { file })];
    const error = thrownBy(() => createKernel({ sources })) as RegistrationError;
    expect(error).toBeInstanceOf(RegistrationError);
    for (const field of ["timeout_ms", "description"]) {
      expect(error.message).toMatch(new RegExp(`${file}: tool "tools.bad": ${field} `));
    }
    expect(error.problems.map(({ field }) => field).toSorted()).toEqual([
      "description",
      "timeout_ms",
    ]);
  });

  it.each<[string, unknown]>([
    ["nothing at all", undefined],
    ["null", null],
    ["text", "read"],
    ["without a name", { description: "x" }],
    ["with a name that is no text", { ...bad, name: 5 }],
  ])("that is %s is an error too, not a crash", (_, definition) => {
    verifies("REG-2");
    const error = thrownBy(() => createRegistry().register([definition as AnyTool]));
    expect(error).toBeInstanceOf(RegistrationError);
  });

  it("of a server excludes that tool, once, with the reason on the surface; the rest continues", async () => {
    verifies("REG-2", "SURF-3");
    const broken = { ...bad, name: "mcp.s.bad" } as AnyTool;
    const world = await createWorld({
      sources: [server("s", [broken, "good", null as never])],
      policy: allowAll,
    });
    expect(world.run.surface.standing.get("mcp.s.bad")).toMatchObject({
      state: "excluded",
      reason: "invalid_definition",
      detail: expect.stringMatching(/timeout_ms|description/) as string,
    });
    const listed = world.run.surface.excluded.map(({ tool_name }) => tool_name);
    expect(listed.filter((name) => name === "mcp.s.bad")).toHaveLength(1);
    const [good, called] = await world.execute(
      { name: "mcp.s.good", arguments: {} },
      { name: "mcp.s.bad", arguments: {} },
    );
    expect([good?.status, called?.error?.code]).toEqual(["succeeded", "tool_not_available"]);
    expect(textOf(called)).toContain("invalid_definition");
  });

  it("of a server is reported beside the tools the source itself could not offer", async () => {
    verifies("REG-2", "SURF-3");
    const world = await createWorld({
      sources: [
        server("s", ["good"], {
          excluded: [{ tool_name: "mcp.s.gone", reason: "server_failed", detail: "exit 1" }],
        }),
      ],
    });
    expect(world.run.surface.standing.get("mcp.s.gone")).toEqual({
      state: "excluded",
      reason: "server_failed",
      detail: "exit 1",
    });
  });
});

describe("isEnabled", () => {
  it.each<[string, () => unknown, string | undefined]>([
    ["says yes", () => true, undefined],
    ["says yes later", async () => true, undefined],
    ["says no", () => false, "no"],
    ["throws", () => Promise.reject(new Error("no token")), "no token"],
    ["hangs", () => new Promise(() => {}), "5000 ms"],
    ["says something like yes", () => "yes", "no"],
    ["says nothing", () => undefined, "no"],
  ])("that %s decides, with a reason when it is no", async (_, isEnabled, detail) => {
    verifies("REG-4", "SURF-3");
    const stage = await setStage({
      tools: [reader("a.tool", 0, { isEnabled: isEnabled as () => boolean }), reader("a.other")],
    });
    const standing = stage.run.surface.standing.get("a.tool");
    if (detail === undefined) expect(standing?.state).toBe("loaded");
    else {
      expect(standing).toMatchObject({
        state: "excluded",
        reason: "disabled",
        detail: expect.stringContaining(detail) as string,
      });
      const [result] = await stage.run.execute([{ name: "a.tool", arguments: {} }]);
      expect(result?.error?.code).toBe("tool_not_available");
    }
    expect(stage.run.surface.standing.get("a.other")?.state).toBe("loaded");
  });

  it("is asked when a surface is resolved: for each run, and again when the registry changes", async () => {
    verifies("REG-4");
    let on = false;
    let asked = 0;
    const tool = reader("a.tool", 0, {
      isEnabled() {
        asked += 1;
        return on;
      },
    });
    const stage = await setStage({ tools: [tool] });
    await stage.run.tools();
    expect(asked).toBe(1);
    on = true;
    stage.kernel.registry.register(reader("b.tool"));
    const { tools } = await stage.run.tools();
    expect(tools.map(({ name }) => name)).toContain("a__tool");
    await stage.session.startRun({});
    expect(asked).toBe(3);
  });
});
