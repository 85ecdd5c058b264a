// All servers of the user at once (MCP-2): each a source of its own, connected when a run is about to need
// tools, side by side; whatever one of them does costs only its own tools.

import { systemClock, type Clock, type Registry } from "@soong/core";
import type { Pins } from "../catalog/index.ts";
import type { McpConnection } from "../connection/index.ts";
import type { McpServerEntry } from "../settings/index.ts";
import type { RecordServerFact } from "./describe-server.ts";
import { openServerSource, type AcceptedChange, type McpServerStatus } from "./server-source.ts";

export interface McpServersOptions {
  readonly entries: readonly McpServerEntry[];
  readonly registry: Registry;
  /** Makes the connection of a server without connecting it. */
  readonly connect: (entry: McpServerEntry) => McpConnection;
  readonly pins: Pins;
  /** Takes the facts `mcp.server.*`. */
  readonly record?: RecordServerFact;
  readonly clock?: Clock;
}

export interface McpServers {
  /**
   * To be called before a run, and before each of its turns: connects what is not connected, lists again
   * what changed, and waits for that at most so long. Never rejects; whoever is late comes with a later turn.
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
  /** Allows the changed definitions of a server as they are now, and says which they are (MCP-7). */
  accept(server_id: string): Promise<readonly AcceptedChange[]>;
  /** Ends all servers and takes their tools away. */
  close(): Promise<void>;
}

export function openMcpServers(options: McpServersOptions): McpServers {
  const { entries, registry, connect, pins, record = () => {}, clock = systemClock() } = options;
  const servers = entries.map((entry) =>
    openServerSource({ entry, registry, connect, pins, record, clock }),
  );

  return {
    async ready(signal, ms) {
      const waiting = Promise.all(servers.map((server) => server.refresh()));
      if (signal.aborted) return;
      let stop = (): void => {};
      const enough = new Promise<void>((resolve) => {
        stop = resolve;
      });
      const disarm = clock.after(ms, stop);
      signal.addEventListener("abort", stop);
      await Promise.race([waiting, enough]);
      disarm();
      signal.removeEventListener("abort", stop);
    },
    connecting: () =>
      servers
        .map((server) => server.status())
        .flatMap(({ state, server_id }) => (state === "connecting" ? [server_id] : [])),
    status: () => servers.map((server) => server.status()),
    readonlyTools: () => servers.flatMap((server) => server.readonlyTools()),
    async accept(server_id) {
      const server = servers.find((one) => one.status().server_id === server_id);
      if (server === undefined) throw new Error(`there is no MCP server "${server_id}"`);
      return server.accept();
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
