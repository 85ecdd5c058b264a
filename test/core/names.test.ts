// NAME-1, NAME-2 and NAME-4: one canonical name for a tool everywhere, however it was called.

import {
  createKernel,
  createRegistry,
  defineHook,
  RegistrationError,
  type AnyTool,
  type SourceKind,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { personWho } from "./people.ts";
import { noRoom, ownSource, server, thrownBy } from "./sources.ts";
import { watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf, writer } from "./world.ts";

describe("a canonical name", () => {
  it.each<[SourceKind, string]>([
    ["code", "code.read_file"],
    ["code", "notes.read"],
    ["code", "a.b-c.D_9"],
    ["code", "agents.list"],
    ["declarative", "jira.create-issue"],
    ["agent", "agent.create_sub_agent"],
    ["internal", "internal.load_skill"],
    ["mcp", "mcp.git.list__refs"],
    ["mcp", "mcp.git.repos/list.all"],
  ])("of a %s source may be %s", (kind, name) => {
    verifies("NAME-1");
    const registry = createRegistry();
    registry.open({ id: "git", kind, tools: [reader(name)] });
    expect([...registry.snapshot().tools.keys()]).toEqual([name]);
  });

  it.each([
    "read file",
    "1read",
    "",
    "notes.",
    ".read",
    "notes..read",
    "notes.read file",
    "notes.1read",
    "1.read",
    "notes.read\n",
    `notes.${"x".repeat(300)}`,
  ])("of a code source may not be %j", (name) => {
    verifies("NAME-1", "REG-2");
    const registry = createRegistry();
    const error = thrownBy(() => registry.register(reader(name)));
    expect(error).toBeInstanceOf(RegistrationError);
    expect((error as RegistrationError).problems).toEqual([
      expect.objectContaining({ field: "name" }),
    ]);
    expect(registry.snapshot().tools.size).toBe(0);
  });

  it.each([
    "agent.create_sub_agent",
    "internal.load_skill",
    "internal.anything",
    "mcp.git.list",
    "Agent.create",
    "INTERNAL.load",
    "Mcp.git.list",
  ])("%s belongs to Soong's own sources", (name) => {
    verifies("NAME-1", "REG-1");
    for (const kind of ["code", "declarative"] as const) {
      const registry = createRegistry();
      const error = thrownBy(() => registry.open({ id: "x", kind, tools: [reader(name)] }));
      expect(error, kind).toBeInstanceOf(RegistrationError);
      expect(registry.snapshot().tools.size).toBe(0);
    }
  });

  it("of a server's tool is within that server's own part of the name space", () => {
    verifies("NAME-1", "REG-1");
    const registry = createRegistry();
    const stolen = ["notes.read", "mcp.other.list", "mcp.git", "internal.load_skill", "mcp.git."];
    registry.open(
      server(
        "git",
        stolen.map((name) => reader(name)),
      ),
    );
    const { tools, excluded } = registry.snapshot();
    expect([...tools.keys()]).toEqual([]);
    expect(excluded.map(({ tool_name }) => tool_name)).toEqual(stolen);
    for (const { reason, detail } of excluded) {
      expect(reason).toBe("invalid_definition");
      expect(detail).toMatch(/mcp|reserved/);
    }
  });

  it("is not to be had through an alias either, when it is reserved", () => {
    verifies("NAME-1", "NAME-4", "REG-1");
    for (const alias of ["agent.create_sub_agent", "internal.load_skill", "mcp.git.list"]) {
      const registry = createRegistry();
      const error = thrownBy(() => registry.register(reader("a.b", 0, { aliases: [alias] })));
      expect(error, alias).toBeInstanceOf(RegistrationError);
    }
  });
});

describe("a name without a dot", () => {
  it("gets a namespace: of the kernel, of its source, or the default one", async () => {
    verifies("NAME-1");
    const names = (options: Parameters<typeof createKernel>[0]): string[] =>
      [...createKernel(options).registry.snapshot().tools.keys()].filter(
        (name) => !name.startsWith("internal."),
      );
    const tools = [reader("get_weather")];
    expect(names({ tools })).toEqual(["app.get_weather"]);
    expect(names({ tools, namespace: "shop" })).toEqual(["shop.get_weather"]);
    const declarative = { id: "x", kind: "declarative", tools } as const;
    expect(names({ sources: [declarative] })).toEqual(["user.get_weather"]);
    expect(names({ sources: [{ ...declarative, namespace: "team" }] })).toEqual([
      "team.get_weather",
    ]);
  });

  it("is still understood, and everything recorded has the canonical one", async () => {
    verifies("NAME-2", "NAME-4");
    const { run } = await createWorld({ tools: [reader("get_weather")] });
    const result = await run.call("get_weather", {});
    expect(result).toMatchObject({ tool_name: "app.get_weather", status: "succeeded" });
    const { tools } = await run.tools();
    expect(tools.map(({ name }) => name)).toContain("app__get_weather");
  });

  it("may be that of an instance of a class, and of a tool that is listed again", async () => {
    class Weather {
      name = "get_weather";
      description = "The weather";
      input_schema = { type: "object" } as const;
      permission = "readonly" as const;
      sky = "clear";
      handler(): string {
        return this.sky;
      }
    }
    const kernel = createKernel();
    const handle = kernel.registry.register(new Weather());
    const { generation } = kernel.registry.current("app.get_weather") ?? {};
    handle.set([new Weather()]);
    expect(kernel.registry.current("app.get_weather")?.generation).toBe(generation);
    const run = await kernel.startRun();
    expect(textOf(await run.call("get_weather", {}))).toBe("clear");
  });

  it("is taken once: two tools cannot answer to it", () => {
    verifies("NAME-4");
    const tools = [reader("get_weather")];
    const twice = () => createKernel({ tools, sources: [{ id: "x", kind: "declarative", tools }] });
    expect(thrownBy(twice)).toBeInstanceOf(RegistrationError);
    expect(thrownBy(() => createKernel({ tools, namespace: "mcp" }))).toBeInstanceOf(
      RegistrationError,
    );
  });
});

describe("a duplicate", () => {
  it.each<[string, (again: AnyTool) => Parameters<typeof createKernel>[0]]>([
    ["in one list", (again) => ({ tools: [reader("notes.read"), again] })],
    [
      "in another source",
      (again) => ({
        tools: [reader("notes.read")],
        sources: [{ id: "second", kind: "declarative", tools: [again] }],
      }),
    ],
  ])("%s fails the start", (_, options) => {
    verifies("NAME-1");
    const error = thrownBy(() => createKernel(options(writer("notes.read"))));
    expect(error).toBeInstanceOf(RegistrationError);
    expect(String(error)).toContain('"notes.read"');
  });

  it("never overwrites, is never suffixed, and takes nothing of its source in", async () => {
    verifies("NAME-1");
    const world = await createWorld({
      tools: [reader("notes.read", 0, { handler: () => "the first" })],
    });
    const before = world.kernel.registry.snapshot();
    const rivals = [reader("other.tool"), reader("notes.read", 0, { handler: () => "a rival" })];
    expect(() => world.kernel.registry.register(rivals)).toThrow(RegistrationError);
    expect(world.kernel.registry.snapshot()).toEqual(before);
    const [result] = await world.execute({ name: "notes.read", arguments: {} });
    expect(textOf(result)).toBe("the first");
  });

  it("of a server's own costs the second of the two and says so", async () => {
    verifies("NAME-1", "REG-2");
    const twice = [
      reader("mcp.git.list", 0, { handler: () => "the first" }),
      reader("mcp.git.list", 0, { handler: () => "the second" }),
    ];
    const world = await createWorld({ sources: [server("git", twice)], policy: allowAll });
    const names = [...world.kernel.registry.snapshot().tools.keys()];
    expect(names.filter((name) => name.startsWith("mcp."))).toEqual(["mcp.git.list"]);
    expect(world.kernel.registry.snapshot().excluded).toEqual([
      expect.objectContaining({ tool_name: "mcp.git.list", reason: "invalid_definition" }),
    ]);
    const [result] = await world.execute({ name: "mcp.git.list", arguments: {} });
    expect(textOf(result)).toBe("the first");
  });
});

describe("an alias", () => {
  it.each<[string, AnyTool[]]>([
    ["another tool's name", [reader("a.one"), reader("a.two", 0, { aliases: ["a.one"] })]],
    ["a name that comes later", [reader("a.two", 0, { aliases: ["a.one"] }), reader("a.one")]],
    [
      "another tool's alias",
      [reader("a.one", 0, { aliases: ["x"] }), reader("a.two", 0, { aliases: ["x"] })],
    ],
    ["its own tool's name", [reader("a.one", 0, { aliases: ["a.one"] })]],
    ["itself, said twice", [reader("a.one", 0, { aliases: ["x", "x"] })]],
  ])("may not be %s", (_, tools) => {
    verifies("NAME-4");
    const registry = createRegistry();
    expect(() => registry.register(tools)).toThrow(/already the name or an alias/);
    for (const [i, tool] of tools.entries()) {
      if (i === tools.length - 1) expect(() => registry.register(tool)).toThrow(RegistrationError);
      else registry.register(tool);
    }
  });

  it("comes free when its source closes, and may be kept by a source that renews itself", () => {
    verifies("NAME-4", "REG-3");
    const registry = createRegistry();
    const handle = registry.register(reader("a.one", 0, { aliases: ["x"] }));
    handle.set([reader("a.one", 0, { aliases: ["x"] })]);
    handle.set([reader("a.two", 0, { aliases: ["x", "a.one"] })]);
    expect([...registry.snapshot().aliases]).toEqual([
      ["x", "a.two"],
      ["a.one", "a.two"],
    ]);
    handle.close();
    registry.register(reader("b.one", 0, { aliases: ["x"] }));
    expect([...registry.snapshot().aliases]).toEqual([["x", "b.one"]]);
  });

  it("resolves to the canonical name, and the record says which alias it was", async () => {
    verifies("NAME-4", "NAME-2");
    const { tool, inputs } = watchedWriter("notes.write", { aliases: ["save_note", "Old.Note"] });
    const world = await createWorld({ tools: [tool], policy: allowAll });
    for (const alias of ["save_note", "Old.Note"]) {
      const [result] = await world.execute({ id: alias, name: alias, arguments: { alias } });
      expect(result).toMatchObject({ tool_name: "notes.write", status: "succeeded" });
      expect(result?.metadata.alias).toBe(alias);
      const [requested] = world
        .facts("tool.requested")
        .filter(({ tool_call_id }) => tool_call_id === alias);
      expect(requested).toMatchObject({ tool_name: "notes.write", data: { alias } });
    }
    const [plain] = await world.execute({ name: "notes.write", arguments: {} });
    expect(plain?.metadata).not.toHaveProperty("alias");
    expect(inputs).toHaveLength(3);
  });

  it("opens no door its tool does not: denied, deferred and excluded hold for it too", async () => {
    verifies("NAME-4", "NAME-2", "SURF-2", "SEARCH-4");
    const tool = watchedWriter("notes.write", { aliases: ["save"] });
    const call = { name: "save", arguments: {} };
    const codes = [];
    for (const options of [
      { policy: { rules: [{ tool: "notes.write", decision: "deny" as const, path: "/p/**" }] } },
      { policy: { rules: [{ tool: "notes.write", decision: "deny" as const }] } },
      { config: { tools: { disabled: ["notes.write"] } } },
      { config: noRoom },
    ]) {
      const world = await createWorld({ tools: [tool.tool], ...options });
      const [result] = await world.execute(call);
      expect(result?.tool_name).toBe("notes.write");
      codes.push(result?.error?.code);
    }
    expect(codes).toEqual([
      "permission_unanswered",
      "tool_not_available",
      "tool_not_available",
      "schema_not_loaded",
    ]);
    expect(tool.inputs).toEqual([]);
  });
});

describe("however a tool is called", () => {
  const spellings = ["notes.write", "notes__write", "save_note"];

  it.each(spellings)(
    "by %s, everything keys on the canonical name and the raw one is metadata",
    async (name) => {
      verifies("NAME-2");
      const { tool } = watchedWriter("notes.write", { aliases: ["save_note"] });
      const person = personWho("allow_once");
      const seen: unknown[] = [];
      const world = await createWorld({
        tools: [tool],
        ask: person.ask,
        hooks: (["PreToolUse", "PostToolUse"] as const).map((event) =>
          defineHook({
            id: event,
            event,
            tool: "notes.write",
            run: ({ tool_name }) => void seen.push(tool_name),
          }),
        ),
      });
      const [result] = await world.execute({ id: "c1", name, arguments: "{}" });
      expect(result).toMatchObject({ tool_name: "notes.write", status: "succeeded" });
      expect(result?.metadata.native_name).toBe(name === "notes.write" ? undefined : name);
      expect(person.requests.map(({ tool_name }) => tool_name)).toEqual(["notes.write"]);
      expect(seen).toEqual(["notes.write", "notes.write"]);
      if (name === "notes.write") return;
      const facts = world.facts().filter(({ tool_call_id }) => tool_call_id === "c1");
      expect(new Set(facts.map(({ tool_name }) => tool_name))).toEqual(new Set(["notes.write"]));
      expect(withoutRawNames(facts)).not.toContain(name);
      expect(JSON.stringify(world.journal.nodes)).not.toContain(name);
    },
  );

  it("a grant given under one spelling is kept, and holds, under the canonical name", async () => {
    verifies("NAME-2", "PERM-5");
    const { tool, inputs } = watchedWriter("notes.write", { aliases: ["save_note"] });
    const person = personWho("allow_for_session");
    const world = await createWorld({ tools: [tool], ask: person.ask });
    for (const name of spellings.toReversed()) await world.execute({ name, arguments: {} });
    expect([person.requests.length, inputs.length]).toEqual([1, 3]);
    expect(world.session.grants().map(({ tool_name }) => tool_name)).toEqual(["notes.write"]);
  });

  it("a rule on its canonical name holds, and a rule or hook on an alias is none", async () => {
    verifies("NAME-2", "SURF-9");
    const { tool, inputs } = watchedWriter("notes.write", { aliases: ["save_note", "old.note"] });
    const world = await createWorld({
      tools: [tool],
      hooks: [
        defineHook({ id: "h", event: "PreToolUse", tool: "old.note", run: () => ({ stop: "no" }) }),
      ],
      policy: {
        rules: [
          { tool: "old.note", decision: "allow" },
          { tool: "notes.write", decision: "ask", every_time: true },
        ],
      },
    });
    for (const name of [...spellings, "old.note"]) {
      const [alone] = await world.execute({ name, arguments: {} });
      expect(alone?.error?.code, name).toBe("permission_unanswered");
    }
    expect(inputs).toEqual([]);
  });

  it("comes back from the name it was shown under, no matter what that name is made of", async () => {
    verifies("NAME-2");
    const names = [
      "mcp.git.list__refs",
      "mcp.git.list.refs",
      "mcp.my_server.delete_all",
      "mcp.my.server_delete_all",
      `mcp.git.${"very_long_name_".repeat(8)}a`,
      `mcp.git.${"very_long_name_".repeat(8)}b`,
      "mcp.git.ünïcode/名",
    ];
    const servers = ["git", "my_server", "my"].map((id) =>
      server(
        id,
        names
          .filter((name) => name.startsWith(`mcp.${id}.`))
          .map((name) => reader(name, 0, { handler: () => name })),
      ),
    );
    const world = await createWorld({ sources: servers, policy: allowAll });
    const { tools } = await world.run.tools();
    expect(tools).toHaveLength(names.length);
    const results = await world.execute(...tools.map(({ name }) => ({ name, arguments: {} })));
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
    expect(results.map((result) => textOf(result)).toSorted()).toEqual(names.toSorted());
    for (const result of results) expect(textOf(result)).toBe(result.tool_name);
  });

  it("keeps the provider's call id as its own, and a repeated or missing one in metadata only", async () => {
    verifies("NAME-2", "RESULT-1");
    const world = await createWorld({ tools: [reader("a.read")] });
    const given = ["x", "x", "", undefined];
    const results = await world.execute(
      ...given.map((id) => ({
        name: "a.read",
        arguments: {},
        ...(id === undefined ? {} : { id }),
      })),
    );
    const [later] = await world.execute({ id: "x", name: "a.read", arguments: {} });
    const all = [...results, later].map((result) => result?.tool_call_id);
    expect(all[0]).toBe("x");
    expect(new Set(all).size).toBe(5);
    expect(results[0]?.metadata).not.toHaveProperty("native_call_id");
    expect([results[1]?.metadata.native_call_id, later?.metadata.native_call_id]).toEqual([
      "x",
      "x",
    ]);
    for (const id of all) expect(world.storyOf(id ?? "")).toContain("tool.completed");
  });

  it("of an unknown name lists the nearest names and runs nothing", async () => {
    verifies("NAME-2", "SURF-2");
    const { tool, inputs } = watchedWriter("notes.write");
    const world = await createWorld({
      tools: [tool],
      sources: [ownSource("internal", ["internal.load_skill"])],
      policy: allowAll,
    });
    const wrong = [
      "write",
      "Notes.Write",
      "notes:write",
      "notes__write__",
      "__proto__",
      "toString",
    ];
    for (const name of wrong) {
      const [result] = await world.execute({ name, arguments: {} });
      expect(result?.error?.code, name).toBe("tool_not_available");
    }
    const [near] = await world.execute({ name: "write", arguments: {} });
    expect(textOf(near)).toContain("notes.write");
    expect(inputs).toEqual([]);
  });
});

/** The facts as text, without the places raw names belong in. */
function withoutRawNames(facts: unknown): string {
  return JSON.stringify(facts, (key, value: unknown) =>
    key === "native_name" || key === "alias" ? undefined : value,
  );
}
