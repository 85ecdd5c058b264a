// How long servers are waited for, turn after turn, and what of their changes is accepted: with servers without processes.

import { createHeldClock, createKernel, type JsonValue } from "@soong/core";
import { createPins, openMcpServers, type McpServers, type PinRecord } from "@soong/mcp";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { entryOf, scriptedConnection, scriptedServer } from "./source-stage.ts";

const never = new AbortController().signal;

async function oneServer(tools: JsonValue[]) {
  const clock = createHeldClock();
  const kernel = createKernel({ clock });
  let saved: PinRecord | undefined;
  const pins = await createPins({
    load: async () => saved,
    save: async (next) => {
      saved = next;
    },
  });
  const connection = scriptedConnection("a", scriptedServer({ tools }));
  const servers = openMcpServers({
    entries: [entryOf("a", { readonly_tools: "all" })],
    registry: kernel.registry,
    clock,
    pins,
    connect: () => connection,
  });
  return { clock, kernel, connection, servers };
}

/** How long the waiting took, on the held clock. */
async function waited(
  servers: McpServers,
  clock: ReturnType<typeof createHeldClock>,
): Promise<number> {
  const before = clock.now();
  const took: number[] = [];
  void servers.ready(never, 1000).then(() => took.push(clock.now() - before));
  for (let ms = 0; ms <= 1000 && took.length === 0; ms += 100) await clock.advance(100);
  return took[0] ?? Number.POSITIVE_INFINITY;
}

test("a server that was waited for in vain is not waited for again until it has answered", async () => {
  verifies("MCP-2");
  const { clock, connection, servers } = await oneServer([{ name: "echo" }]);
  const open = connection.hold();
  expect(await waited(servers, clock)).toBe(1000);
  expect(servers.connecting()).toEqual(["a"]);
  expect(await waited(servers, clock)).toBeLessThan(1000);
  open();
  await clock.advance(100);
  expect(servers.status()).toMatchObject([{ state: "connected", era: "2025" }]);
  // It is there, and was lost since: it is waited for as at first.
  connection.lose("gone");
  connection.hold();
  expect(await waited(servers, clock)).toBe(1000);
});

test("one that answered is waited for again when its tools change, even if others are late", async () => {
  verifies("MCP-3");
  const clock = createHeldClock();
  const { registry } = createKernel({ clock });
  const pins = await createPins({ load: async () => undefined, save: async () => {} });
  let answer = (): void => {};
  const listToolsPage = async () => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return { tools: [{ name: "echo" }], next_cursor: undefined };
  };
  const there = scriptedConnection("there", scriptedServer({ listToolsPage }));
  const late = scriptedConnection("late", scriptedServer({}));
  late.hold();
  const servers = openMcpServers({
    entries: [entryOf("there"), entryOf("late")],
    registry,
    clock,
    pins,
    connect: ({ server_id }) => (server_id === "late" ? late : there),
  });
  const first = waited(servers, clock);
  await clock.advance(0);
  answer();
  expect(await first).toBe(1000);
  expect(servers.connecting()).toEqual(["late"]);
  there.toolsChanged();
  expect(await waited(servers, clock)).toBe(1000);
});

test("a caller that gives up waiting does not make the next one go without", async () => {
  verifies("MCP-2");
  const { clock, connection, servers } = await oneServer([{ name: "echo" }]);
  connection.hold();
  const giveUp = new AbortController();
  const ready = servers.ready(giveUp.signal, 1000);
  giveUp.abort();
  await ready;
  expect(await waited(servers, clock)).toBe(1000);
});

test("only those changes are accepted that were shown", async () => {
  verifies("MCP-7");
  const { kernel, connection, servers } = await oneServer([{ name: "echo" }]);
  await servers.ready(never, 1000);
  const run = await kernel.startRun();
  expect(await run.call("mcp.a.echo", {})).toMatchObject({ status: "succeeded" });

  const changeTo = async (description: string): Promise<void> => {
    connection.becomes(scriptedServer({ tools: [{ name: "echo", description }] }));
    connection.lose("restarted");
    await servers.ready(never, 1000);
  };
  await changeTo("Something else");
  const shown = servers.changes("a");
  expect(shown).toMatchObject([
    { tool_name: "mcp.a.echo", changes: [expect.stringContaining("Something else")] },
  ]);
  await changeTo("Something worse");
  await expect(servers.accept("a", shown)).rejects.toThrow("changed its tools again");
  expect(servers.status()).toMatchObject([{ tools: [] }]);
  expect(await servers.accept("a", servers.changes("a"))).toHaveLength(1);
  expect(servers.status()).toMatchObject([{ tools: ["mcp.a.echo"] }]);
  expect(() => servers.changes("b")).toThrow('no MCP server "b"');
});
