// MCP servers for the page of the inspector: connected to see how they are, and what they changed after it was allowed
// accepted as it was shown, or not at all (MCP-7). As `soong mcp list` and `soong mcp accept`.

import type { ServerList, ServersPort } from "@soong/inspector";
import { openRuntime, type Runtime } from "../../runtime/open-runtime.ts";
import { loadUserServers, type ServerChoice } from "../../runtime/servers.ts";
import { acceptShown, findServer } from "../mcp/servers.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";

export interface InspectedServers extends ServersPort {
  /** Ends what still waits for a server. */
  close(): void;
}

export function openServersPort({ env, cwd, config, note }: InspectedHome): InspectedServers {
  const closing = new AbortController();
  /** A second request while servers are being asked gets the same answer. */
  let listing: Promise<ServerList> | undefined;

  return {
    list() {
      listing ??= withInspectorErrors(() =>
        during("all", async ({ mcp }) => ({
          servers: (mcp?.status() ?? []).map(({ server_id, state, message, tools }) => ({
            server_id,
            state,
            tools: tools.length,
            changes: mcp?.changes(server_id) ?? [],
            message,
          })),
        })),
      ).finally(() => {
        listing = undefined;
      });
      return listing;
    },
    accept: (server_id, shown) =>
      withInspectorErrors(async () => {
        const now = await config();
        const { entries } = await loadUserServers(now.home, env, now.values.mcp);
        findServer(entries, server_id, now);
        return during({ only: server_id }, async ({ mcp }) => {
          if (mcp === undefined) throw new Error(`the server ${server_id} was not opened`);
          return { accepted: await acceptShown(mcp, server_id, shown) };
        });
      }),
    close: () => closing.abort(),
  };

  async function during<T>(
    servers: ServerChoice,
    work: (runtime: Runtime) => Promise<T>,
  ): Promise<T> {
    const runtime = await openRuntime({ env, cwd, note, servers, config: await config() });
    try {
      await runtime.ready(closing.signal);
      return await work(runtime);
    } finally {
      await runtime.close();
    }
  }
}
