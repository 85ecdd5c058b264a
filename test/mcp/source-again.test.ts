// Sources while time passes: what a server says of its list and when it is asked, what the user's word covers that
// comes later, and what is left when a source is closed in the middle of something.

import { createHeldClock, createKernel, type JsonValue } from "@soong/core";
import { createPins, openMcpServers, type McpServerEntry } from "@soong/mcp";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { entryOf, scriptedConnection, scriptedServer } from "./source-stage.ts";

const never = new AbortController().signal;

async function stage(given: Partial<McpServerEntry> = {}) {
  const clock = createHeldClock();
  const kernel = createKernel({ clock });
  const listing = {
    tools: [{ name: "log" }] as JsonValue[],
    count: 0,
    gate: Promise.resolve(),
    fails: undefined as string | undefined,
  };
  const connection = scriptedConnection(
    "git",
    scriptedServer({
      async listToolsPage() {
        listing.count += 1;
        await listing.gate;
        if (listing.fails !== undefined) throw new Error(listing.fails);
        return { tools: listing.tools, next_cursor: undefined };
      },
    }),
  );
  const facts: string[] = [];
  const servers = openMcpServers({
    entries: [entryOf("git", given)],
    registry: kernel.registry,
    clock,
    pins: await createPins({
      load: () => Promise.resolve(undefined),
      save: () => Promise.resolve(),
    }),
    connect: () => connection,
    record: ({ type }) => facts.push(type),
  });
  const ready = () => servers.ready(never, 1_000);
  const names = () =>
    [...kernel.registry.snapshot().tools.keys()].filter((name) => name.startsWith("mcp."));
  const excluded = () => kernel.registry.snapshot().excluded;
  return { clock, kernel, listing, connection, servers, facts, ready, names, excluded };
}

describe("the user's word", () => {
  test("for a whole server covers tools that come after the run began, but none that is warned of", async () => {
    verifies("MCP-6", "MCP-3");
    const { kernel, listing, ready } = await stage({ readonly_tools: "all" });
    const asked: string[] = [];
    const run = await kernel.startRun({
      ask: ({ tool_name }) => {
        asked.push(tool_name);
        return { decision: "deny" };
      },
    });
    listing.tools = [{ name: "log" }, { name: "wipe", annotations: { destructiveHint: true } }];
    await ready();
    await run.tools();
    expect((await run.call("mcp.git.log", {})).status).toBe("succeeded");
    expect((await run.call("mcp.git.wipe", {})).status).toBe("rejected");
    expect(asked).toEqual(["mcp.git.wipe"]);
  });

  test("in a policy reaches a tool without its own rule, and not one the server warns of", async () => {
    verifies("MCP-6");
    const { kernel, listing, ready } = await stage();
    listing.tools = [
      { name: "log" },
      { name: "push", annotations: { readOnlyHint: false } },
      { name: "says", annotations: { readOnlyHint: true } },
    ];
    await ready();
    const run = await kernel.startRun({ mode: "plan", policy: { readonly_mcp: ["mcp.git.*"] } });
    const loaded = run.surface.loaded.map(({ name }) => name);
    expect(loaded.filter((name) => name.startsWith("mcp."))).toEqual([
      "mcp.git.log",
      "mcp.git.says",
    ]);
  });
});

describe("a list", () => {
  test("that is not there yet says so, and one that is there is not asked for again", async () => {
    verifies("MCP-2");
    const { excluded, listing, ready, servers } = await stage();
    const detail = "it has not answered yet";
    expect(excluded()).toEqual([{ tool_name: "mcp.git.*", reason: "server_failed", detail }]);
    expect(servers.status()[0]).toMatchObject({ state: "idle" });
    await Promise.all([ready(), ready()]);
    await ready();
    expect(listing.count).toBe(1);
  });

  test("changed again soon after it was read is read once more, automatically, when the second is over", async () => {
    verifies("MCP-3");
    const { clock, connection, listing, names, ready } = await stage();
    await ready();
    listing.tools = [{ name: "show" }];
    await clock.advance(400);
    for (let i = 0; i < 10; i += 1) connection.toolsChanged();
    await clock.settle();
    expect([listing.count, names()]).toEqual([1, ["mcp.git.log"]]);
    await clock.advance(599);
    expect(listing.count).toBe(1);
    await clock.advance(1);
    await clock.settle();
    expect([listing.count, names()]).toEqual([2, ["mcp.git.show"]]);
    // And again: the wait is not forgotten with its first use.
    listing.tools = [{ name: "blame" }];
    connection.toolsChanged();
    await clock.advance(1_000);
    await clock.settle();
    expect([listing.count, names()]).toEqual([3, ["mcp.git.blame"]]);
    expect(clock.pending).toBe(0);
  });

  test("whose reasons alone have changed is a change", async () => {
    const { clock, connection, excluded, facts, listing, ready } = await stage();
    listing.tools = [{ name: "log" }, { name: "odd  name" }];
    await ready();
    expect(excluded()).toMatchObject([{ reason: "invalid_definition" }]);
    listing.tools = [{ name: "log" }];
    await clock.advance(1_000);
    connection.toolsChanged();
    await clock.settle();
    expect(excluded()).toEqual([]);
    expect(facts).toEqual(["mcp.server.connected", "mcp.server.tools_changed"]);
  });

  test("that cannot be read costs its tools by name, and says so once", async () => {
    verifies("MCP-2");
    const { clock, connection, excluded, facts, listing, names, ready, servers } = await stage();
    await ready();
    listing.fails = "the disk is full";
    await clock.advance(1_000);
    connection.toolsChanged();
    await clock.settle();
    expect(names()).toEqual([]);
    expect(excluded()).toEqual([
      { tool_name: "mcp.git.log", reason: "server_failed", detail: "the disk is full" },
    ]);
    await ready();
    await ready();
    expect(facts).toEqual(["mcp.server.connected", "mcp.server.failed"]);
    expect(servers.status()[0]).toMatchObject({ state: "failed", message: "the disk is full" });
    listing.fails = undefined;
    await ready();
    expect(names()).toEqual(["mcp.git.log"]);
    expect(excluded()).toEqual([]);
    expect(servers.status()[0]).not.toHaveProperty("message");
  });
});

describe("closing", () => {
  test("leaves no clock running, and receives nothing more from the server", async () => {
    verifies("REG-3");
    const { clock, connection, excluded, facts, listing, names, ready, servers } = await stage();
    await ready();
    connection.toolsChanged();
    expect(clock.pending).toBe(1);
    await servers.close();
    expect(clock.pending).toBe(0);
    connection.toolsChanged();
    connection.lose("gone");
    await clock.advance(5_000);
    expect(listing.count).toBe(1);
    expect([names(), excluded()]).toEqual([[], []]);
    expect(facts).toEqual(["mcp.server.connected"]);
    expect(servers.status()[0]).toMatchObject({ state: "closed", tools: [], excluded: [] });
  });

  test("in the middle of a list takes none of it", async () => {
    const { clock, facts, listing, names, ready, servers } = await stage();
    let open = (): void => {};
    listing.gate = new Promise((resolve) => {
      open = resolve;
    });
    const waiting = ready();
    await clock.settle();
    expect(servers.status()[0]).toMatchObject({ state: "connecting" });
    const closing = servers.close();
    open();
    await Promise.all([waiting, closing]);
    expect([names(), facts]).toEqual([[], []]);
    expect(clock.pending).toBe(0);
  });
});
