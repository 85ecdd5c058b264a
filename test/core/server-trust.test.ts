// Whose word makes a tool of an MCP server readonly (MCP-6): the user's alone, through the policy or through the
// source that read their config. What a server says of itself may only tighten.

import { describePolicy, type AnyTool } from "@soong/core";
import { compileRecordedPolicy } from "@soong/core/internal";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho } from "./people.ts";
import { server } from "./sources.ts";
import { createWorld, writer, type WorldOptions } from "./world.ts";

/** Says of itself just that. */
function tool(name: string, about: Partial<AnyTool>): AnyTool {
  const { permission: _said, ...rest } = writer(name);
  return { ...rest, ...about };
}

const silent = tool("mcp.s.silent", {});
const writes = tool("mcp.s.writes", { permission: "write" });
const destroys = tool("mcp.s.destroys", { destructive: true });
const reads = tool("mcp.s.reads", { permission: "readonly" });
const contradicts = tool("mcp.s.contradicts", { permission: "readonly", destructive: true });
const all = [silent, writes, destroys, reads, contradicts];

const vouching = { permission_from: "user" } as const;

/** The tools a plan run has: those that are readonly. */
async function readonly(tools: readonly AnyTool[], options: WorldOptions, about = {}) {
  const world = await createWorld({
    sources: [server("s", tools, about)],
    mode: "plan",
    ...options,
  });
  return [...world.run.surface.loaded].map(({ name }) => name.replace("mcp.s.", "")).toSorted();
}

describe("the user's word in a policy", () => {
  test("as a pattern reaches what does not warn of itself, and as a name anything it names", async () => {
    verifies("MCP-6", "SURF-9");
    const marked = (...readonly_mcp: string[]) => readonly(all, { policy: { readonly_mcp } });
    expect(await marked()).toEqual([]);
    expect(await marked("mcp.s.*")).toEqual(["reads", "silent"]);
    expect(await marked("*")).toEqual(["reads", "silent"]);
    expect(await marked("mcp.s.*", "mcp.s.writes")).toEqual(["reads", "silent", "writes"]);
    expect(await marked("mcp.s.destroys", "mcp.s.contradicts")).toEqual([
      "contradicts",
      "destroys",
    ]);
  });

  test("as a pattern leaves a call that carries a warning to approval", async () => {
    verifies("MCP-6", "PERM-3");
    const person = personWho("allow_once");
    const world = await createWorld({
      sources: [server("s", all)],
      ask: person.ask,
      policy: { readonly_mcp: ["mcp.s.*"] },
    });
    for (const { name } of all) await world.execute({ name, arguments: {} });
    expect(person.requests.map(({ tool_name }) => tool_name)).toEqual([
      "mcp.s.writes",
      "mcp.s.destroys",
      "mcp.s.contradicts",
    ]);
  });

  test("of a child does not go beyond its parent's", async () => {
    verifies("MCP-6", "PERM-12");
    const person = personWho("deny");
    const world = await createWorld({
      sources: [server("s", all)],
      ask: person.ask,
      policy: { readonly_mcp: ["mcp.s.*"] },
    });
    const { run_id, agent_id } = world.run.identity;
    const parent = { run_id, agent_id, policy: world.run.policy };
    const own = await createWorld({
      sources: [server("s", all)],
      ask: person.ask,
    });
    const child = await own.session.startRun({
      role: "sub",
      parent,
      policy: { readonly_mcp: ["mcp.s.writes", "mcp.s.silent"] },
    });
    expect((await child.call("mcp.s.silent", {})).status).toBe("succeeded");
    expect((await child.call("mcp.s.writes", {})).status).toBe("rejected");
  });
});

describe("the user's word through a source", () => {
  test("counts for everything its definitions call readonly, and for nothing else", async () => {
    verifies("MCP-6");
    expect(await readonly(all, {}, vouching)).toEqual(["reads"]);
    expect(await readonly(all, {})).toEqual([]);
    const code = { ...server("s", []), id: "c", kind: "code", ...vouching } as const;
    const plain = tool("mine.silent", {});
    const world = await createWorld({ sources: [{ ...code, tools: [plain] }] });
    expect(world.run.surface.loaded[0]?.trust).toBeUndefined();
  });

  test("counts for tools that come after the run's policy was made", async () => {
    verifies("MCP-6", "MCP-3");
    const person = personWho("deny");
    const world = await createWorld({ ask: person.ask });
    const handle = world.kernel.registry.open(server("s", [], vouching));
    handle.set([reads, silent]);
    await world.run.tools();
    expect((await world.run.call("mcp.s.reads", {})).status).toBe("succeeded");
    expect((await world.run.call("mcp.s.silent", {})).status).toBe("rejected");
    expect(person.requests.map(({ tool_name }) => tool_name)).toEqual(["mcp.s.silent"]);
  });

  test("is with the definitions on record, and the policy reads back as it was", async () => {
    verifies("REPLAY-1", "MCP-6");
    const policy = { readonly_mcp: ["mcp.s.writes"] };
    const world = await createWorld({ sources: [server("s", all, vouching)], policy });
    const started = world.facts("run.started")[0]!.data;
    const { artifact_id } = started.definitions!;
    const bytes = await world.artifacts.read(artifact_id, { offset: 0, length: 1e6 });
    const { sources, tools } = JSON.parse(new TextDecoder().decode(bytes)) as {
      sources: { id: string; permission_from?: string }[];
      tools: { name: string; permission?: string; source: number }[];
    };
    const recorded = tools.find(({ name }) => name === "mcp.s.reads")!;
    expect(sources[recorded.source]).toMatchObject({ id: "s", ...vouching });
    expect(recorded.permission).toBe("readonly");
    expect(tools.find(({ name }) => name === "mcp.s.silent")).not.toHaveProperty("permission");
    const again = compileRecordedPolicy(started.policy);
    expect(again.ok && describePolicy(again.policy)).toEqual(started.policy);
  });
});

test("a call with bad arguments stops the later ones unless the user says its tool only reads", async () => {
  verifies("SCHED-3", "MCP-6");
  const strict = tool("mcp.s.strict", { permission: "readonly", input_schema: { type: "object" } });
  for (const [about, status] of [
    [{}, "skipped"],
    [vouching, "succeeded"],
  ] as const) {
    const world = await createWorld({
      sources: [server("s", [strict, reads], about)],
      policy: { rules: [{ tool: "*", decision: "allow" }] },
    });
    const results = await world.execute(
      { name: "mcp.s.strict", arguments: "[" },
      { name: "mcp.s.reads", arguments: {} },
    );
    expect(results.map((result) => result.status)).toEqual(["failed", status]);
  }
});
