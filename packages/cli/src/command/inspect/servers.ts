// MCP servers for the page of the inspector: connected to see how they are, their tools and logs, and what they changed after
// it was allowed accepted as it was shown, or not at all (MCP-7). As `soong mcp list` and `soong mcp accept`.

import { InspectorError } from "@soong/inspector";
import type { ServerList, ServerRow, ServersPort, ServerTool } from "@soong/inspector";
import type { McpServerEntry, McpServers, McpServerStatus } from "@soong/mcp";
import { shorten } from "@soong/schema";
import { openRuntime, type Runtime } from "../../runtime/open-runtime.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserServers, type ServerChoice } from "../../runtime/servers.ts";
import { createHomeRedactor } from "../context.ts";
import { acceptShown, findServer } from "../mcp/servers.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";
import { readLogEnd } from "./read-log-end.ts";

export interface InspectedServers extends ServersPort {
  /** Ends what still waits for a server. */
  close(): void;
}

/** Of a tool in the list; the rest comes with its definition. */
const MOST_DESCRIPTION = 200;

export function openServersPort(place: InspectedHome): InspectedServers {
  const { env, cwd, config, note } = place;
  const closing = new AbortController();
  /** A second request while servers are being asked gets the same answer. */
  let listing: Promise<ServerList> | undefined;
  /** By server and name, as of when it was last connected. */
  const definitions = new Map<string, ReadonlyMap<string, ServerTool>>();

  return {
    list() {
      listing ??= withInspectorErrors(async () => {
        const { entries } = await loadEntries();
        return during("all", async ({ mcp }) => ({
          servers: (mcp?.status() ?? []).map((status) => toRow(mcp, status, entries)),
        }));
      }).finally(() => {
        listing = undefined;
      });
      return listing;
    },
    connect: (server_id) =>
      withInspectorErrors(async () => {
        const { entries } = await loadEntries(server_id);
        return during({ only: server_id }, async ({ mcp }) => {
          const [status] = mcp?.status() ?? [];
          if (status === undefined) throw new Error(`the server ${server_id} was not opened`);
          return toRow(mcp, status, entries);
        });
      }),
    async tool(server_id, tool_name) {
      const tool = definitions.get(server_id)?.get(tool_name);
      if (tool !== undefined) return tool;
      const message = `${server_id} had no tool ${tool_name} when it was last connected. Reconnect it to look again.`;
      throw new InspectorError("not_found", message);
    },
    log: (server_id) =>
      withInspectorErrors(async () => {
        const { home } = await loadEntries(server_id);
        const redactor = await createHomeRedactor(home, env);
        const file = homePaths(home).serverLog(server_id);
        const { text, omitted } = await readLogEnd(file);
        return { file, text: redactor.text(text), omitted };
      }),
    accept: (server_id, shown) =>
      withInspectorErrors(async () => {
        await loadEntries(server_id);
        return during({ only: server_id }, async ({ mcp }) => {
          if (mcp === undefined) throw new Error(`the server ${server_id} was not opened`);
          return { accepted: await acceptShown(mcp, server_id, shown) };
        });
      }),
    close: () => closing.abort(),
  };

  /** `server_id`: refused where mcp.json names no such server. */
  async function loadEntries(server_id?: string) {
    const now = await config();
    const { entries } = await loadUserServers(now.home, env, now.values.mcp);
    if (server_id !== undefined) findServer(entries, server_id, now);
    return { entries, home: now.home };
  }

  function toRow(
    mcp: McpServers | undefined,
    status: McpServerStatus,
    entries: readonly McpServerEntry[],
  ): ServerRow {
    const { server_id, state, message, protocol_version, server_info, excluded } = status;
    const tools = mcp?.definitions(server_id) ?? [];
    definitions.set(server_id, new Map(tools.map((tool) => [tool.tool_name, tool])));
    const changes = mcp?.changes(server_id) ?? [];
    const held = new Set(changes.map(({ tool_name }) => tool_name));
    const entry = entries.find((one) => one.server_id === server_id);
    return {
      server_id,
      state,
      message,
      transport: entry?.transport.kind ?? "stdio",
      place: entry === undefined ? "" : `${entry.place.file}:${entry.place.line}`,
      protocol_version,
      server_info,
      tools: tools
        .filter(({ tool_name }) => !held.has(tool_name))
        .map(({ tool_name, description, pin }) => ({
          tool_name,
          pin,
          description: description && shorten(description.trim(), MOST_DESCRIPTION),
        })),
      excluded: excluded
        .filter(({ tool_name }) => !held.has(tool_name))
        .map(({ tool_name, reason, detail }) => ({ tool_name, reason, detail })),
      changes: [...changes],
    };
  }

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
