// What the benchmarks of MCP share: the server as an entry of a user's file, our runtime in front of it, and the
// SDK's own client to compare with.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @import { Kernel, KernelOptions, Session, SessionOptions } from "@soong/core"
 * @import { McpServers } from "@soong/mcp"
 *
 * @typedef {object} Runtime
 * @property {Kernel} kernel
 * @property {McpServers} servers
 * @property {() => Promise<void>} close
 */

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));
const GATEWAY = fileURLToPath(new URL("./gateway.mjs", import.meta.url));
const PROXY = fileURLToPath(new URL("./proxy.mjs", import.meta.url));

/** The first tool of the server, which is asked most. */
export const FIRST_TOOL = "list_issue_0";

/** Of the SDK, connected to a process of its own. @param {string[]} args of Node */
export async function connectDirectly(...args) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  return client;
}

/** @param {number} tools @returns {string[]} arguments of Node */
export const serverOf = (tools) => [SERVER, String(tools)];

/** @param {string} home @param {"memory" | "disk"} journal @returns {string[]} arguments of Node */
export const gatewayAt = (home, journal) => [GATEWAY, home, journal];

/** The SDK's own server and client in front of the server. @param {number} tools @returns {string[]} arguments of Node */
export const proxyOf = (tools) => [PROXY, ...serverOf(tools)];

/**
 * Kernel and server as the command wires them; the user vouches for the server's tools as readonly.
 *
 * @param {string} home @param {number} tools @param {KernelOptions} [options]
 * @returns {Promise<Runtime>}
 */
export async function openRuntime(home, tools, options = {}) {
  // Only now: the run that measures builds our packages first.
  const { createKernel } = await import("@soong/core");
  const { createPins, openConnection, openMcpServers, openPinFile, parseMcpSettings } =
    await import("@soong/mcp");
  const bench = {
    command: process.execPath,
    args: serverOf(tools),
    network: false,
    readonly: true,
  };
  const settings = parseMcpSettings(JSON.stringify({ mcpServers: { bench } }), "mcp.json");
  if (!settings.ok) throw new Error(settings.problems[0]?.message);
  const kernel = createKernel(options);
  const servers = openMcpServers({
    entries: settings.servers,
    registry: kernel.registry,
    connect: (entry) => openConnection(entry, { logFile: join(home, "bench.log") }),
    pins: await createPins(openPinFile(join(home, "pins.json"))),
  });
  await servers.ready(new AbortController().signal, 60_000);
  const [status] = servers.status();
  if (status?.tools.length !== tools) throw new Error(`the server is ${status?.message}`);
  return { kernel, servers, close: () => servers.close() };
}

/**
 * A session of it, in memory or on disk.
 *
 * @param {Runtime} runtime @param {string} home @param {"memory" | "disk"} journal @param {SessionOptions} [options]
 * @returns {Promise<{ session: Session, close: () => Promise<void> }>}
 */
export async function openSessionOn({ kernel }, home, journal, options = {}) {
  if (journal === "memory") {
    const session = await kernel.openSession(options);
    return { session, close: () => session.close() };
  }
  const { openStore } = await import("@soong/store");
  const store = await openStore({ directory: join(home, "store") });
  const kept = await store.createSession();
  const session = await kernel.openSession({ ...kept, ...options });
  return {
    session,
    async close() {
      await session.close();
      await kept.close();
      await store.close();
    },
  };
}
