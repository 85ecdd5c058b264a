// What the doctor finds of MCP servers: mcp.json itself, and each server that it names, connected side by side within the
// time a run would wait for it (MCP-2).

import { createKernel } from "@soong/core";
import type { McpServerStatus } from "@soong/mcp";
import type { LoadedConfig } from "../../config/index.ts";
import { describeFailure } from "../../output/index.ts";
import {
  collectSecrets,
  loadUserServers,
  resolvePlaces,
  runtimeServers,
  serverLog,
  serversFile,
} from "../../runtime/index.ts";
import type { CommandContext } from "../context.ts";
import type { Finding } from "./finding.ts";

const ABOUT = "mcp.json";

export async function* checkServers(
  { cwd, env }: Pick<CommandContext, "cwd" | "env">,
  config: LoadedConfig,
): AsyncGenerator<Finding> {
  const { home, values } = config;
  let own: Awaited<ReturnType<typeof loadUserServers>>;
  try {
    own = await loadUserServers(home, env, values.mcp);
  } catch (error) {
    yield { state: "fail", about: ABOUT, says: describeFailure(error).message };
    return;
  }
  const { entries, warnings } = own;
  const says =
    entries.length === 0 ? "no MCP servers" : `${entries.length} in ${serversFile(home)}`;
  yield warnings.length === 0
    ? { state: "ok", about: ABOUT, says }
    : { state: "warn", about: ABOUT, says: [says, ...warnings].join("\n") };
  if (entries.length === 0) return;
  try {
    const { registry } = createKernel();
    const { roots } = await resolvePlaces(cwd, home, values.tools);
    const servers = await runtimeServers({ env, config, roots, choice: "all", canElicit: false });
    const { mcp, ready } = await servers.open(registry, await collectSecrets(config, env));
    try {
      await ready(new AbortController().signal);
      for (const status of mcp?.status() ?? []) yield describeServer(status, home);
    } finally {
      await mcp?.close();
    }
  } catch (error) {
    yield { state: "fail", about: "mcp servers", says: describeFailure(error).message };
  }
}

function describeServer(status: McpServerStatus, home: string): Finding {
  const { server_id, state, tools, excluded, message = "", protocol_version = "" } = status;
  const about = `mcp ${server_id}`;
  const log = serverLog(home, server_id);
  switch (state) {
    case "disabled":
      return { state: "ok", about, says: "disabled in mcp.json" };
    case "connected": {
      const says = `${tools.length} tools, MCP ${protocol_version}`;
      if (excluded.length === 0) return { state: "ok", about, says };
      const out = excluded.map(({ tool_name, reason }) => `${tool_name}: ${reason}`);
      const more = out.length > MOST_NAMED ? [`and ${out.length - MOST_NAMED} more`] : [];
      return {
        state: "warn",
        about,
        says: [`${says}; not offered:`, ...out.slice(0, MOST_NAMED), ...more].join("\n"),
        next: `\`soong mcp list ${server_id}\` says why.`,
      };
    }
    case "failed": {
      const isSetUp = excluded.some(({ reason }) => reason === "setup_required");
      return {
        state: "fail",
        about,
        says: message,
        next: isSetUp
          ? "Set it up as the message says; nothing else is wrong with it."
          : `Look at its entry in mcp.json and at its log, ${log}; "disabled": true goes without it.`,
      };
    }
    case "idle":
    case "connecting":
    case "closed":
      return {
        state: "warn",
        about,
        says: "it has not answered yet; a run continues without its tools, and takes them when they come",
        next: `Its log is ${log}. If it is always that slow, raise mcp.wait_ms in the config.`,
      };
  }
}

const MOST_NAMED = 10;
