// The home of a user: where its parts are, its store, and why it cannot be used.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SoongError } from "@soong/core";
import type { Store, StoreOptions } from "@soong/store";
import { loadConfig, type SoongConfig } from "../config/index.ts";
import { findStoreUrl, STORE_URL_NAME } from "./store-url.ts";

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

/** Whose store: the home, and the environment that may name a database. */
export interface StorePlace {
  readonly home: string;
  /** For the user who waits. */
  readonly note?: ((line: string) => void) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** As environment and config say. */
export async function openHomeStore(
  place: StorePlace,
  given: { readonly readOnly?: boolean; readonly values?: SoongConfig } = {},
): Promise<Store> {
  const { openStore } = await import("@soong/store");
  return openStore({
    ...(await findStoreOptions(place, given.values)),
    readOnly: given.readOnly ?? false,
  });
}

/** A command that only reads works with a config that cannot be read, unless that may name another database. */
export async function findStoreOptions(
  { home, env, note }: StorePlace,
  given?: SoongConfig,
): Promise<StoreOptions> {
  const values = given ?? (await loadLeniently({ home, env }));
  return {
    directory: home,
    url: findStoreUrl(values, env),
    busyTimeoutMs: values?.store.busy_timeout_ms,
    leaseMs: values?.store.lease_ms,
    durability: values?.store.durability,
    onAway: (ms) => note?.(`The store does not answer; trying again for up to ${ms / 1000} s.`),
    onBack: () => note?.("The store answers again."),
  };
}

async function loadLeniently({ home, env }: StorePlace): Promise<SoongConfig | undefined> {
  try {
    return (await loadConfig({ home })).values;
  } catch (error) {
    const text = await readFile(join(home, "config.toml"), "utf8").catch(() => "");
    const mayBeNamed = /postgres(?:ql)?:/i.test(text) || /\bstore\b[^]*\burl\b/.test(text);
    if (mayBeNamed && (env[STORE_URL_NAME] ?? "") === "") throw error;
    return undefined;
  }
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
