// The home of a user: where its parts are, its store, and why it cannot be used.

import { join } from "node:path";
import { SoongError } from "@soong/core";
import type { Store } from "@soong/store";
import { loadConfig, type SoongConfig } from "../config/index.ts";

export function homePaths(home: string) {
  return {
    agents: join(home, "agents"),
    /** Own commands of the conversation. */
    commands: join(home, "commands"),
    skills: join(home, "skills"),
    memory: join(home, "memory"),
    tools: join(home, "tools"),
    hooks: join(home, "hooks.json"),
    servers: join(home, "mcp.json"),
    /** What was accepted of the servers' tools (MCP-7). */
    pins: join(home, "mcp-pins.json"),
    /** Entries of other programs that `soong mcp wrap` replaced. */
    wrapped: join(home, "mcp-wrapped.json"),
    /** What came of `soong mcp login`. */
    logins: join(home, "mcp-logins"),
    /** Where a server's standard error goes (MCP-8). */
    serverLog: (server_id: string) => join(home, "mcp-logs", `${server_id}.log`),
    /** The token of `soong mcp serve --http`. */
    gatewayToken: join(home, "mcp-serve-token"),
  };
}

/** What a run leaves behind for later; undefined for an id that names no folder of its own. */
export function findArchive(home: string, run_id: string): string | undefined {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/.test(run_id)
    ? join(home, "runs", run_id, "archive")
    : undefined;
}

/** As the config says; a command that only reads works with a config that cannot be read. */
export async function openHomeStore(
  home: string,
  given: { readonly readOnly?: boolean; readonly values?: SoongConfig } = {},
): Promise<Store> {
  const config = given.values ?? (await loadConfig({ home }).catch(() => undefined))?.values;
  const { openStore } = await import("@soong/store");
  return openStore({
    directory: home,
    readOnly: given.readOnly ?? false,
    busyTimeoutMs: config?.store.busy_timeout_ms,
    durability: config?.store.durability,
  });
}

/** Every problem of the files in the home at once, each with its place. */
export class SetupError extends SoongError {
  override readonly name = "SetupError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], next: string) {
    super("invalid_setup", [...problems, next].join("\n"), { exitCode: 2 });
    this.problems = problems;
  }
}
