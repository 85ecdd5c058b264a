// All servers of the user at once (MCP-2): each a source of its own, connected when a run is about to need
// tools, in parallel; what one of them does costs only its own tools.

import { createRedactor, systemClock, type Clock, type Redactor, type Registry } from "@soong/core";
import { inTime } from "@soong/platform";
import type { Pins } from "../catalog/pins.ts";
import type { McpHost } from "../call/ask-server.ts";
import type { McpConnection } from "../connection/connected-server.ts";
import type { McpServerEntry } from "../settings/index.ts";
import {
  openServerSource,
  type AcceptedChange,
  type McpServerStatus,
  type MoreTools,
  type RecordServerFact,
  type ServerDefinition,
  type ServerSource,
} from "./server-source.ts";

export interface McpServersOptions {
  readonly entries: readonly McpServerEntry[];
  readonly registry: Registry;
  /** Makes the connection of a server without connecting it. */
  readonly connect: (entry: McpServerEntry) => McpConnection;
  readonly pins: Pins;
  /** Takes the facts `mcp.server.*`. */
  readonly record?: RecordServerFact;
  /** Who is asked what servers want of a host; no one unless given, and then servers are refused it. */
  readonly host?: McpHost;
  /** Unless given, one that knows key formats only. */
  readonly redactor?: Redactor;
  readonly clock?: Clock;
}

export interface McpServers {
  /**
   * To be called before a run, and before each of its turns: connects what is not connected, lists again
   * what changed, and waits for that at most so long. Never rejects; a late server comes with a later turn,
   * and is not waited for again until it has answered or failed.
   */
  ready(signal: AbortSignal, ms: number): Promise<void>;
  /** Servers that have not answered yet. */
  connecting(): readonly string[];
  status(): readonly McpServerStatus[];
  /**
   * The tools the user vouched for as readonly, for `readonly_mcp` of a run's policy: names written out in the
   * entries, and of a server vouched for as a whole those it has now and does not itself warn of (MCP-6).
   */
  readonlyTools(): readonly string[];
  /** What a server offers now, and what is held back because it changed; nothing of one that is not connected. */
  definitions(server_id: string): readonly ServerDefinition[];
  /** The definitions of a server that changed after they were allowed, as they are now. */
  changes(server_id: string): readonly AcceptedChange[];
  /** Allows those, and says which they were (MCP-7). Rejects when they are no longer those that were `shown`. */
  accept(server_id: string, shown?: readonly AcceptedChange[]): Promise<readonly AcceptedChange[]>;
  /** Lets every server have these beside the tools it lists, from now on. */
  alsoOffer(more: MoreTools): void;
  /** The connections of the servers that are not disabled, in the order of the file. */
  connections(): readonly McpConnection[];
  /** Ends all servers and takes their tools away. */
  close(): Promise<void>;
}

export function openMcpServers(options: McpServersOptions): McpServers {
  const { entries, registry, connect, pins, host } = options;
  const { record = () => {}, clock = systemClock(), redactor = createRedactor() } = options;
  const servers = entries.map((entry) =>
    openServerSource({ entry, registry, connect, pins, record, redactor, host, clock }),
  );

  const asked = new Set<ServerSource>();
  /** Waited for in vain: no later turn waits for them, until they have answered or failed. */
  const late = new Set<ServerSource>();

  return {
    async ready(signal, ms) {
      const awaited = servers.filter((server) => !late.has(server));
      for (const server of late) void refresh(server);
      const refreshed = awaited.map((server) => refresh(server));
      if (signal.aborted) return;
      const waited = await inTime(Promise.all(refreshed), { ms, signal, clock });
      if (waited.kind !== "late") return;
      for (const server of awaited) if (asked.has(server)) late.add(server);
    },
    connecting: () =>
      servers
        .map((server) => server.status())
        .flatMap(({ state, server_id }) => (state === "connecting" ? [server_id] : [])),
    status: () => servers.map((server) => server.status()),
    readonlyTools: () => servers.flatMap((server) => server.readonlyTools()),
    definitions: (server_id) => find(server_id).definitions(),
    changes: (server_id) => find(server_id).changes(),
    accept: async (server_id, shown) => find(server_id).accept(shown),
    alsoOffer(more) {
      for (const server of servers) server.alsoOffer(more);
    },
    connections: () =>
      servers.flatMap(({ connection }) => (connection === undefined ? [] : [connection])),
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };

  async function refresh(server: ServerSource): Promise<void> {
    asked.add(server);
    await server.refresh();
    asked.delete(server);
    late.delete(server);
  }

  function find(server_id: string): ServerSource {
    const server = servers.find((one) => one.status().server_id === server_id);
    if (server === undefined) throw new Error(`there is no MCP server "${server_id}"`);
    return server;
  }
}
