// `soong mcp list`: the servers of mcp.json, connected to see how they are (MCP-2), and why a tool is not offered. With
// a server's id its tools, and what changed of them after they were allowed (MCP-7).

import type { McpLogins, McpLoginStatus, McpServerEntry } from "@soong/mcp";
import { EXIT } from "../../output/index.ts";
import {
  loginsFolder,
  openRuntime,
  loadUserServers,
  serverLog,
  serversFile,
} from "../../runtime/index.ts";
import { awaitServers, noteWaiting } from "../await-servers.ts";
import { loadUserConfig, type CommandContext } from "../context.ts";
import { findServer, showServer, showServerDetails, type ListedServer } from "./server.ts";
import { argument, JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "list",
  summary: "connect the servers of mcp.json and report their state",
  arguments: [argument("[server]", "its id: also its tools, and what changed of them")],
  options: [JSON_OPTION],
  examples: ["soong mcp list", "soong mcp list github", "soong mcp list --json"],
  exitCodes: "0 listed, 1 a server failed, 2 usage error, 130 interrupted",
  run: listServers,
};

interface McpListOptions {
  readonly json?: boolean;
}

async function listServers(
  context: CommandContext,
  server: string | undefined,
  { json = false }: McpListOptions,
): Promise<number> {
  const { env, cwd, output } = context;
  const config = await loadUserConfig(context);
  const { entries } = await loadUserServers(config.home, env, config.values.mcp);
  if (server !== undefined) findServer(entries, server, config);
  const runtime = await openRuntime({
    env,
    cwd,
    config,
    servers: server === undefined ? "all" : { only: server },
    ...noteWaiting(context, json),
  });
  try {
    const { mcp } = runtime;
    if (mcp === undefined) {
      if (!json) output.note(`There are no MCP servers: ${serversFile(config.home)} names none.`);
      return EXIT.ok;
    }
    if ((await awaitServers(context, runtime)) === "interrupted") return EXIT.interrupted;
    const { openMcpLogins } = await import("@soong/mcp");
    const logins = openMcpLogins(loginsFolder(config.home));
    const listed: ListedServer[] = [];
    for (const status of mcp.status()) {
      const { server_id } = status;
      const entry = findServer(entries, server_id, config);
      const log = serverLog(config.home, server_id);
      const login = await readLogin(logins, entry);
      listed.push({ status, entry, changes: mcp.changes(server_id), log, login });
    }
    for (const one of listed) {
      if (json) output.record("soong.mcp/1", toRecord(one));
      else if (server === undefined) showServer(output, one);
      else showServerDetails(output, one);
    }
    return listed.some(({ status }) => status.state === "failed") ? EXIT.failed : EXIT.ok;
  } finally {
    await runtime.close();
  }
}

/** One that cannot be read is none: whoever needs it is told why by the server's own state. */
async function readLogin(logins: McpLogins, entry: McpServerEntry): Promise<McpLoginStatus> {
  if (entry.transport.kind !== "http") return { kind: "none" };
  return logins.status(entry).catch(() => ({ kind: "none" }));
}

function toRecord({ status, entry, changes, log, login }: ListedServer): object {
  const { transport, place } = entry;
  const ofLogin = transport.kind === "http" ? { login } : {};
  return { ...status, transport: transport.kind, ...ofLogin, changes, log, place };
}
