// Servers at an address: real HTTP servers of both eras, and some that are none (MCP-1, MCP-2).

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { callOptions, connectionWorld, entryFor } from "./connection-world.ts";

const world = connectionWorld();
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

function connectTo(url: string, headers: Record<string, string> = {}) {
  return world.connection(entryFor({ kind: "http", url, headers }));
}

async function failureOf(promise: Promise<unknown>): Promise<{ reason: string; message: string }> {
  return promise.then(
    () => ({ reason: "none", message: "" }),
    (error: { reason: string; message: string }) => error,
  );
}

/** Answers calls; "never" is left open until it is aborted, which `aborted` tells. */
function echoServer(aborted: () => void): McpServer {
  const mcp = new McpServer(
    { name: "remote", version: "3" },
    { capabilities: { tools: {} }, instructions: "From afar." },
  );
  const { server } = mcp;
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object" } }],
  }));
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    params.name === "echo"
      ? { content: [{ type: "text", text: JSON.stringify(params.arguments) }] }
      : new Promise(() => {
          mcpReq.signal.addEventListener("abort", aborted);
        }),
  );
  return mcp;
}

/** One session, as in the older era; the number of sessions that were ended. */
async function olderServer(aborted: () => void) {
  const seen: IncomingMessage["headers"][] = [];
  const ended: string[] = [];
  const transports = new Map<string, NodeStreamableHTTPServerTransport>();
  const url = await listen((request, response) => {
    void (async () => {
      seen.push(request.headers);
      const id = request.headers["mcp-session-id"];
      let transport = typeof id === "string" ? transports.get(id) : undefined;
      if (transport === undefined) {
        const fresh = new NodeStreamableHTTPServerTransport({
          sessionIdGenerator: () => `session-${transports.size + 1}`,
          onsessioninitialized: (session) => void transports.set(session, fresh),
          onsessionclosed: (session) => void ended.push(session),
        });
        transport = fresh;
        await echoServer(aborted).connect(fresh);
      }
      await transport.handleRequest(request, response);
    })();
  });
  return { url, seen, ended, forget: () => transports.clear() };
}

async function newerServer(aborted: () => void) {
  const seen: IncomingMessage["headers"][] = [];
  const handle = toNodeHandler(createMcpHandler(() => echoServer(aborted), { legacy: "reject" }));
  const url = await listen((request, response) => {
    seen.push(request.headers);
    void handle(request, response);
  });
  return { url, seen };
}

describe.each([
  ["2025", olderServer],
  ["2026", newerServer],
] as const)("a remote server of the era %s", (era, start) => {
  test("is connected, listed and called with the headers of its entry", async () => {
    verifies("MCP-1");
    const { url, seen } = await start(() => {});
    const connection = connectTo(url, { Authorization: "Bearer hush-hush" });
    const server = await connection.connected();
    expect(server).toMatchObject({
      era,
      server_info: { name: "remote", version: "3" },
      instructions: "From afar.",
    });
    expect((await server.listToolsPage(undefined)).tools).toMatchObject([{ name: "echo" }]);
    const request = { name: "echo", arguments: { a: 1 } };
    expect(await server.callTool(request, callOptions())).toMatchObject({
      content: [{ type: "text", text: '{"a":1}' }],
    });
    await connection.close();
    expect(seen.every(({ authorization }) => authorization === "Bearer hush-hush")).toBe(true);
  });

  test("learns that a call was aborted", async () => {
    verifies("MCP-4");
    let told = () => {};
    const isTold = new Promise<void>((resolve) => {
      told = resolve;
    });
    const { url } = await start(told);
    const server = await connectTo(url).connected();
    const abort = new AbortController();
    const call = server.callTool(
      { name: "never", arguments: {} },
      callOptions({ signal: abort.signal }),
    );
    const failure = failureOf(call);
    // Answered by the same server, so the first call is there as well.
    await server.callTool({ name: "echo", arguments: {} }, callOptions());
    abort.abort();
    expect(await failure).toMatchObject({ reason: "aborted" });
    await isTold;
  });
});

describe("a session of the older era", () => {
  test("is ended with the connection", async () => {
    const { url, ended } = await olderServer(() => {});
    const connection = connectTo(url);
    await connection.connected();
    await connection.close();
    expect(ended).toEqual(["session-1"]);
  });

  test("that the server has forgotten fails the call, and the next need begins another", async () => {
    verifies("MCP-2");
    const older = await olderServer(() => {});
    const connection = connectTo(older.url);
    const server = await connection.connected();
    await server.listToolsPage(undefined);
    older.forget();
    const failure = await failureOf(
      server.callTool({ name: "echo", arguments: {} }, callOptions()),
    );
    expect(failure.reason).toBe("lost");
    expect(connection.state.kind).toBe("failed");
    const again = await connection.connected();
    expect(await again.callTool({ name: "echo", arguments: {} }, callOptions())).toMatchObject({
      content: [{ type: "text", text: "{}" }],
    });
  });
});

describe("an address", () => {
  test("that sends us to another host gets nothing, and the other host neither", async () => {
    verifies("MCP-8");
    let visits = 0;
    const other = await listen((_, response) => {
      visits += 1;
      response.end();
    });
    for (const status of [301, 302, 307, 308]) {
      const url = await listen((_, response) => {
        response.writeHead(status, { location: other }).end();
      });
      const failure = await failureOf(connectTo(url, { "X-Key": "hush-hush" }).connected());
      expect(failure.reason).toBe("protocol");
      expect(failure.message).toContain("redirect");
    }
    expect(visits).toBe(0);
  });

  test.each([
    [401, "unauthorized", "it wants a login (HTTP 401). Log in: soong mcp login plain"],
    [403, "unauthorized", "refuses us (HTTP 403)"],
    [500, "protocol", "500"],
  ])("that answers %i says what to do", async (status, reason, message) => {
    verifies("MCP-2");
    const url = await listen((_, response) => {
      response.writeHead(status, { "content-type": "text/plain" }).end("You said hush-hush.");
    });
    const failure = await failureOf(connectTo(url, { "X-Key": "hush-hush" }).connected());
    expect(failure.reason).toBe(reason);
    expect(failure.message).toContain(message);
    expect(failure.message).not.toContain("hush-hush");
  });

  test("where nothing listens cannot be reached", async () => {
    const url = await listen(() => {});
    const [server] = servers.splice(0);
    server?.close();
    const failure = await failureOf(connectTo(url).connected());
    expect(failure).toMatchObject({ reason: "unreachable" });
    const blocked = await failureOf(connectTo("http://127.0.0.1:1/mcp").connected());
    expect(blocked.message).toContain("cannot be reached (bad port)");
    expect(failure.message).toContain("ECONNREFUSED");
  });

  test("with a page for browsers is no server", async () => {
    const url = await listen((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    });
    expect(await failureOf(connectTo(url).connected())).toMatchObject({ reason: "protocol" });
  });

  test("that sends without end is cut off", async () => {
    const bytes = Buffer.alloc(1024 * 1024, " ");
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const url = await listen((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (response.write(bytes)) continue;
      };
      response.on("drain", more).on("close", isOver);
      more();
    });
    const failure = await failureOf(connectTo(url).connected());
    expect(failure.reason).toBe("protocol");
    await over;
  });

  test("that begins an event and never ends it is cut off", async () => {
    const line = Buffer.from(`data: ${"x".repeat(1024 * 1024)}\n`);
    let sent = 0;
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const url = await listen((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      // Many that end are no matter, wherever the pieces are cut.
      response.write("data: {}\n\n: so\n\r");
      const more = () => {
        do sent += line.length;
        while (response.write(line));
      };
      response.on("drain", more).on("close", isOver);
      more();
    });
    const connection = connectTo(url);
    const failure = failureOf(connection.connected());
    await over;
    // Beside what was on its way when it was given up.
    expect(sent / 1024 / 1024).toBeGreaterThan(32);
    expect(sent / 1024 / 1024).toBeLessThan(128);
    await connection.close();
    await failure;
  });

  test("that keeps silent is given up in time, and let go when it is closed", async () => {
    const url = await listen(() => {});
    const entry = entryFor({ kind: "http", url, headers: {} }, { connect_timeout_ms: 100 });
    expect(await failureOf(world.connection(entry).connected())).toMatchObject({
      reason: "timeout",
    });
    const waiting = connectTo(url);
    const failure = failureOf(waiting.connected());
    await waiting.close();
    expect(await failure).toMatchObject({ reason: "closed" });
  });
});
