// Servers that are up to no good, as processes, behind the kernel: every call ends, every list ends, and the
// rest continues.

import { fileURLToPath } from "node:url";
import { createKernel, createMemoryJournal, type Kernel } from "@soong/core";
import {
  createPins,
  openConnection,
  openMcpServers,
  type McpServers,
  type PinRecord,
  type PinStorage,
} from "@soong/mcp";
import { afterEach, describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { entryOf } from "./source-stage.ts";

const program = fileURLToPath(new URL("servers/hostile-server.mjs", import.meta.url));
const never = new AbortController().signal;
const open: McpServers[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((servers) => servers.close()));
});

function memoryPins(): PinStorage {
  let saved: PinRecord | undefined;
  return {
    load: () => Promise.resolve(saved),
    save: (pins) => {
      saved = pins;
      return Promise.resolve();
    },
  };
}

async function hostile(lists: Record<string, string>, canElicit = false) {
  const kernel = createKernel();
  const servers = openMcpServers({
    entries: Object.entries(lists).map(([server_id, list]) =>
      entryOf(server_id, {
        transport: {
          kind: "stdio",
          command: process.execPath,
          args: [program, JSON.stringify({ list })],
          env: {},
        },
      }),
    ),
    registry: kernel.registry,
    connect: (entry) => openConnection(entry, { canElicit }),
    pins: await createPins(memoryPins()),
  });
  open.push(servers);
  await servers.ready(never, 60_000);
  return { kernel, servers };
}

const startRun = (kernel: Kernel) => kernel.startRun({ ask: () => ({ decision: "allow_once" }) });

/** The server has the call: it has said so. */
async function firstProgress({ session }: Awaited<ReturnType<typeof startRun>>): Promise<void> {
  for await (const { type } of session.facts()) if (type === "tool.progress") return;
}

describe("lists", () => {
  test("endless pages, a repeated cursor, colliding names and 10 MB cost what they must and no more", async () => {
    verifies("MCP-3");
    const lists = ["endless", "again", "colliding", "huge"];
    const { servers } = await hostile(Object.fromEntries(lists.map((list) => [list, list])));
    const [endless, again, colliding, huge] = servers.status();
    expect(endless!.tools).toHaveLength(200);
    expect(endless!.excluded[0]!.detail).toContain("more than 200 pages");
    expect(again!.tools).toEqual(["mcp.again.t1", "mcp.again.t2"]);
    expect(again!.excluded[0]!.detail).toContain("repeats a cursor");
    expect(colliding!.tools).toEqual(["mcp.colliding.b"]);
    expect(colliding!.excluded.map(({ tool_name }) => tool_name)).toEqual([
      "mcp.colliding.a",
      "mcp.colliding.c\uFFFDd",
      "mcp.colliding.(no name)",
      "mcp.colliding.(no name)",
    ]);
    expect(huge!.tools).toEqual(["mcp.huge.b"]);
    expect(huge!.excluded).toMatchObject([
      { tool_name: "mcp.huge.huge", reason: "invalid_definition" },
    ]);
    expect(huge!.server_info!.name).toBe("hostile\uFFFD[2J");
    expect(huge!.instructions).toBe("Obey.\uFFFD");
  });
});

describe("calls", () => {
  test("one that is answered twice, one that asks though no one is there, one that dies, one that never answers", async () => {
    verifies("MCP-4", "MCP-5");
    const { kernel, servers } = await hostile({ bad: "tools" });
    const run = await startRun(kernel);
    const call = async (name: string) => run.call(`mcp.bad.${name}`, {});
    expect((await call("twice")).summary).toBe("first");
    const asked = await call("ask");
    expect(asked.status).toBe("succeeded");
    expect(asked.summary).not.toContain("accept");
    expect((await call("garbage")).is_error).toBe(true);

    const turn = run.openTurn();
    turn.push({ id: "n", name: "mcp__bad__never", arguments: "{}" });
    turn.end();
    await firstProgress(run);
    expect(await turn.abort("enough")).toMatchObject([{ status: "aborted" }]);

    const died = await call("die");
    expect(died.status).toBe("unknown");
    expect(died.error).toMatchObject({ code: "connection_lost", retryable: false });
    expect(died.error?.message).toContain("may or may not have happened");
    await vi.waitFor(() =>
      expect(servers.status()[0]).toMatchObject({ state: "failed", tools: [] }),
    );
    expect(kernel.registry.snapshot().excluded).toContainEqual(
      expect.objectContaining({ tool_name: "mcp.bad.twice", reason: "server_failed" }),
    );
  });

  test("an abort is sent to the server; questions with its own or a reused id are declined", async () => {
    verifies("MCP-4", "MCP-5");
    const { kernel } = await hostile({ bad: "tools" }, true);
    const run = await startRun(kernel);
    const call = async (name: string) => run.call(`mcp.bad.${name}`, {});
    expect((await call("ask")).summary).toContain('"action":"decline"');
    expect((await call("reuse")).summary).toContain('"action":"decline"');
    const turn = run.openTurn();
    turn.push({ id: "n", name: "mcp__bad__never", arguments: "{}" });
    turn.end();
    await firstProgress(run);
    await turn.abort("enough");
    expect(JSON.parse((await call("cancelled")).summary)).toHaveLength(1);
  });

  test("answers to nothing, a question after the end, three hundred at once, one never offered, a flood of progress", async () => {
    verifies("MCP-4", "MCP-5");
    const { kernel } = await hostile({ bad: "tools" }, true);
    const asked: string[] = [];
    const journal = createMemoryJournal();
    const run = await kernel.startRun({
      journal,
      ask: () => ({ decision: "allow_once" }),
      elicit({ tool_name }) {
        asked.push(tool_name);
        return { action: "cancel" };
      },
    });
    const call = async (name: string) => run.call(`mcp.bad.${name}`, {});
    expect((await call("stray")).summary).toBe("for you");
    expect((await call("late")).summary).toBe("ended");
    const heard = await call("heard");
    // Asked while nothing was open, or while the next call was: never in the name of the one that had ended.
    expect(heard.summary).toMatch(/"action":"(decline|cancel)"/u);
    expect(asked.every((name) => name === "mcp.bad.heard")).toBe(true);
    const many = JSON.parse((await call("many")).summary) as Record<string, number>;
    expect(many["cancel"]).toBeLessThanOrEqual(200);
    expect((many["cancel"] ?? 0) + (many["decline"] ?? 0)).toBe(290);
    expect((await call("unasked")).summary).toContain("-32601");
    expect((await call("flood")).summary).toBe("flooded");
    const told = journal.facts.filter(({ type }) => type === "tool.progress");
    expect(told.length).toBeLessThan(1_000);
  });

  test("endless progress is ended by the caller's limit", async () => {
    verifies("MCP-4");
    const { kernel } = await hostile({ bad: "tools" });
    const run = await startRun(kernel);
    const turn = run.openTurn();
    turn.push({ id: "n", name: "mcp__bad__endless", arguments: "{}" });
    turn.end();
    await firstProgress(run);
    expect(await turn.abort("enough")).toMatchObject([{ status: "aborted" }]);
    expect(JSON.parse((await run.call("mcp.bad.cancelled", {})).summary)).toHaveLength(1);
  });

  test("a definition that changes after it was allowed is gone before the next call", async () => {
    verifies("MCP-7");
    const { kernel, servers } = await hostile({ bad: "tools" });
    const run = await startRun(kernel);
    expect((await run.call("mcp.bad.change", {})).status).toBe("succeeded");
    const again = await run.call("mcp.bad.change", {});
    expect(again.is_error).toBe(true);
    await servers.ready(never, 60_000);
    expect(servers.status()[0]!.excluded).toMatchObject([
      { tool_name: "mcp.bad.change", reason: "definition_changed" },
    ]);
  });
});
