// Entries for the tests of connections, and the end of whatever they opened.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { openConnection } from "../../packages/mcp/src/connection/open-connection.ts";
import type {
  ConnectionOptions,
  McpConnection,
} from "../../packages/mcp/src/connection/connected-server.ts";
import type { McpServerEntry, McpTransport } from "../../packages/mcp/src/settings/index.ts";

const PLAIN_SERVER = fileURLToPath(new URL("servers/plain-server.mjs", import.meta.url));

export type Behaviour = Record<string, unknown>;

/** Closed, and its folders removed, after each test of the file that calls this. */
export function connectionWorld() {
  const open: McpConnection[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((connection) => connection.close()));
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  return {
    connection(entry: McpServerEntry, options: ConnectionOptions = {}): McpConnection {
      const connection = openConnection(entry, options);
      open.push(connection);
      return connection;
    },
    plain(behaviour: Behaviour = {}, options: ConnectionOptions = {}): McpConnection {
      return this.connection(entryFor(plainTransport(behaviour)), options);
    },
    async folder(): Promise<string> {
      const folder = await mkdtemp(join(tmpdir(), "soong-mcp-"));
      folders.push(folder);
      return folder;
    },
  };
}

export function entryFor(
  transport: McpTransport,
  rest: Partial<McpServerEntry> = {},
): McpServerEntry {
  return {
    server_id: "plain",
    transport,
    disabled: false,
    disabled_tools: [],
    readonly_tools: [],
    tags: [],
    network: true,
    hosts: [],
    timeout_ms: 30_000,
    connect_timeout_ms: 30_000,
    missing_variables: [],
    place: { file: "mcp.json", line: 3 },
    ...rest,
  };
}

export function plainTransport(
  behaviour: Behaviour = {},
  env: Record<string, string> = {},
): McpTransport {
  const args = [PLAIN_SERVER, JSON.stringify(behaviour)];
  return { kind: "stdio", command: process.execPath, args, env };
}

export function callOptions(rest: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  return { signal: new AbortController().signal, timeoutMs: 30_000, ...rest };
}
