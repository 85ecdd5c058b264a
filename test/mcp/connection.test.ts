// One server over time: had when needed, lost, had again (MCP-2), in both eras.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createHeldClock } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { McpConnection } from "../../packages/mcp/src/connection/connected-server.ts";
import { callOptions, connectionWorld, entryFor, plainTransport } from "./connection-world.ts";

const world = connectionWorld();
const ERAS = ["2025", "2026"] as const;

function states(connection: McpConnection): string[] {
  const seen: string[] = [];
  connection.onStateChanged(({ kind }) => seen.push(kind));
  return seen;
}

/** The reason and message of what `promise` rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<{ reason: string; message: string }> {
  return promise.then(
    () => ({ reason: "none", message: "" }),
    (error: { reason: string; message: string }) => error,
  );
}

describe.each(ERAS)("a server of the era %s", (era) => {
  test("is started at the first need, once for all who wait", async () => {
    verifies("MCP-2");
    const connection = world.plain({ era, noise: true });
    const seen = states(connection);
    expect(connection.state.kind).toBe("idle");
    const [first, second] = await Promise.all([connection.connected(), connection.connected()]);
    expect(first).toBe(second);
    expect(await connection.connected()).toBe(first);
    expect(first).toMatchObject({
      era,
      protocol_version: era === "2025" ? "2025-11-25" : "2026-07-28",
      server_info: { name: "plain", version: era === "2025" ? "1" : "2" },
      instructions: "Be kind.",
      capabilities: { tools: { listChanged: true } },
    });
    expect(seen).toEqual(["connecting", "connected"]);
    await connection.close();
    expect(connection.state.kind).toBe("closed");
    expect(await failureOf(connection.connected())).toMatchObject({ reason: "closed" });
    const call = first.callTool({ name: "echo", arguments: {} }, callOptions());
    expect(await failureOf(call)).toMatchObject({ reason: "lost" });
  });

  test("gives its tools page by page, no matter what they look like", async () => {
    verifies("MCP-1");
    const oddTools = [{ name: "a" }, { inputSchema: { properties: {} } }, null, 3];
    const server = await world.plain({ era, oddTools }).connected();
    expect(await server.listToolsPage(undefined)).toEqual({ tools: oddTools, next_cursor: "2" });
    expect(await server.listToolsPage("2")).toEqual({ tools: oddTools, next_cursor: undefined });
    const bad = await world.plain({ era, oddTools: "none" }).connected();
    expect(await failureOf(bad.listToolsPage(undefined))).toMatchObject({
      reason: "invalid_answer",
    });
  });

  test("that dies during a call fails that call, once, and is started again at the next need", async () => {
    verifies("MCP-2");
    const transport = plainTransport({ era }, { PLAIN_SECRET: "hush-hush" });
    const connection = world.connection(entryFor(transport));
    const seen = states(connection);
    const server = await connection.connected();
    await server.callTool({ name: "echo", arguments: {} }, callOptions());
    const [died, other] = await Promise.all([
      failureOf(server.callTool({ name: "die", arguments: {} }, callOptions())),
      failureOf(server.callTool({ name: "never", arguments: {} }, callOptions())),
    ]);
    expect(died.reason).toBe("lost");
    expect(died.message).toContain("it ended with code 3; its last words: ");
    expect(died.message).toContain("dying with [redacted]");
    expect(other.reason).toBe("lost");
    expect(connection.state.kind).toBe("failed");

    const again = await connection.connected();
    expect(again).not.toBe(server);
    const { structuredContent } = await again.callTool(
      { name: "seen", arguments: {} },
      callOptions(),
    );
    expect(JSON.stringify(structuredContent)).not.toContain('"die"');
    expect(seen).toEqual(["connecting", "connected", "failed", "connecting", "connected"]);
  });

  test("notifies when its tools change, as long as someone listens", async () => {
    verifies("MCP-3");
    const connection = world.plain({ era });
    let told = () => {};
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    connection.onToolsChanged(() => {
      throw new Error("a listener of somebody else");
    });
    connection.onToolsChanged(told);
    const stopped: string[] = [];
    connection.onToolsChanged(() => stopped.push("told"))();
    const server = await connection.connected();
    await server.callTool({ name: "change", arguments: {} }, callOptions());
    await isTold;
    expect(stopped).toEqual([]);
  });
});

describe("a server of the older era", () => {
  test("may end at a question of the newer one: it is started again without it", async () => {
    verifies("MCP-2");
    const server = await world.plain({ dieOnUnknown: true }).connected();
    expect(server.era).toBe("2025");
  });

  test("may keep silent about it", async () => {
    const transport = plainTransport({ silentOnUnknown: true });
    const entry = entryFor(transport, { connect_timeout_ms: 500 });
    // Held, so that a busy machine may take its time.
    const connection = world.connection(entry, { clock: createHeldClock() });
    expect((await connection.connected()).era).toBe("2025");
  });

  test("is not asked again when it comes back", async () => {
    const connection = world.plain();
    const server = await connection.connected();
    await server.callTool({ name: "echo", arguments: {} }, callOptions());
    await failureOf(server.callTool({ name: "die", arguments: {} }, callOptions()));
    const again = await connection.connected();
    const { structuredContent } = await again.callTool(
      { name: "seen", arguments: {} },
      callOptions(),
    );
    expect(JSON.stringify(structuredContent)).not.toContain("server/discover");
  });
});

describe("a server that cannot be had", () => {
  test("is retried less and less often, and used again when it works", async () => {
    verifies("MCP-2");
    const clock = createHeldClock(1000);
    const connection = world.connection(
      entryFor({ kind: "stdio", command: "no-such-program-here", args: [], env: {} }),
      { clock },
    );
    const first = await failureOf(connection.connected());
    expect(first).toMatchObject({ reason: "unreachable" });
    expect(first.message).toContain('"no-such-program-here" could not be started');
    expect(connection.state).toMatchObject({ kind: "failed", retry_at: 2000 });
    const seen = states(connection);
    expect(await failureOf(connection.connected())).toBe(first);
    expect(seen).toEqual([]);

    const pauses: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await clock.advance(60_000);
      await failureOf(connection.connected());
      const { state } = connection;
      if (state.kind === "failed") pauses.push(state.retry_at - clock.now());
    }
    expect(pauses).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(clock.pending).toBe(0);
  });

  test("is retried less often as well when it connects and never answers anything", async () => {
    verifies("MCP-2");
    const clock = createHeldClock();
    const connection = world.plain({ listDies: true }, { clock });
    for (const pause of [1000, 2000]) {
      const server = await connection.connected();
      expect(await failureOf(server.listToolsPage(undefined))).toMatchObject({ reason: "lost" });
      expect(connection.state).toMatchObject({ kind: "failed", retry_at: clock.now() + pause });
      await clock.advance(pause);
    }
  });

  test("says why in its own last words, without the secrets it was given", async () => {
    const env = { TOKEN: "hush-hush" };
    const transport = plainTransport({ crash: "no key\u001b[31m, hush-hush\nis wrong" }, env);
    const failure = await failureOf(world.connection(entryFor(transport)).connected());
    expect(failure).toMatchObject({ reason: "lost" });
    expect(failure.message).toBe(
      'MCP server "plain" was not ready when it was over: it ended with code 3; its last words: no key [31m, [redacted] is wrong.',
    );
  });

  test("because it never answers fails in time, and nothing of it is left", async () => {
    verifies("MCP-2");
    const clock = createHeldClock();
    const logFile = join(await world.folder(), "plain.log");
    const connection = world.plain({ never: true, noise: true }, { clock, logFile });
    const waiting = failureOf(connection.connected());
    // So that it is there, and has said what it says.
    while (!(await readFile(logFile, "utf8").catch(() => "")).includes("[1, 2]")) await delay(10);
    await clock.advance(29_999);
    expect(connection.state.kind).toBe("connecting");
    await clock.advance(1);
    const failure = await waiting;
    expect(failure.reason).toBe("timeout");
    expect(failure.message).toContain("raise connect_timeout_ms");
    expect(failure.message).toContain("It wrote 4 lines to its standard output");
  });

  test("for want of a variable is not started", async () => {
    verifies("MCP-2");
    const entry = entryFor(plainTransport(), { missing_variables: ["API_KEY"] });
    const failure = await failureOf(world.connection(entry).connected());
    expect(failure.reason).toBe("variable_missing");
    expect(failure.message).toContain("(mcp.json:3) refers to API_KEY, not set");
  });

  test("in a folder that is not there says so", async () => {
    const transport = { ...plainTransport(), cwd: "/no/such/folder" };
    const failure = await failureOf(world.connection(entryFor(transport)).connected());
    expect(failure.message).toContain("/no/such/folder does not exist");
  });
});

test("a caller that gives up waiting leaves the others waiting", async () => {
  const connection = world.plain();
  const giveUp = new AbortController();
  const impatient = failureOf(connection.connected(giveUp.signal));
  const patient = connection.connected(new AbortController().signal);
  giveUp.abort();
  expect(await impatient).toMatchObject({ reason: "aborted" });
  expect((await patient).era).toBe("2025");
  expect(await failureOf(connection.connected(giveUp.signal))).toMatchObject({ reason: "aborted" });
});

test("closing ends an attempt that is under way", async () => {
  const connection = world.plain({ never: true });
  const waiting = failureOf(connection.connected());
  await connection.close();
  expect(await waiting).toMatchObject({ reason: "closed" });
  expect(connection.state.kind).toBe("closed");
  await connection.close();
});
