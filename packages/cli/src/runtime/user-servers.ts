// The MCP servers of a runtime: mcp.json of the home (MCP-1), never a file of a project. Reading it starts nothing.

import { join } from "node:path";
import type { KnownSecret } from "@soong/core";
import type { McpServerEntry } from "@soong/mcp";
import { describeProblem } from "@soong/platform";
import { ConfigError, readSettingsFile, type SoongConfig } from "../config/index.ts";
import { SetupError } from "./home.ts";

export interface UserServers {
  /** Disabled ones too, in the order of the file. */
  readonly entries: readonly McpServerEntry[];
  readonly secrets: readonly KnownSecret[];
  /** What is odd and no mistake, each with its place. */
  readonly warnings: readonly string[];
}

const NONE: UserServers = { entries: [], secrets: [], warnings: [] };
const NEXT = "Fix mcp.json, or move it away to run without MCP servers.";

/** Throws a SetupError that names every problem of the file. */
export async function loadUserServers(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  { call_timeout_ms, connect_timeout_ms }: SoongConfig["mcp"],
): Promise<UserServers> {
  const file = serversFile(home);
  const read = await readSettingsFile(file).catch(refuse);
  if (read === undefined || namesNone(read.text)) return NONE;
  // Its own piece: a command that needs no server does not load the rest of that package.
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  const defaults = { timeout_ms: call_timeout_ms, connect_timeout_ms };
  const parsed = parseMcpSettings(read.text, file, env, defaults);
  if (!parsed.ok) throw new SetupError(parsed.problems.map(describeProblem), NEXT);
  return {
    entries: parsed.servers,
    secrets: parsed.secrets,
    warnings: [...read.warnings.map(describeProblem), ...parsed.warnings.map(describeProblem)],
  };
}

/** The secrets in mcp.json, also where the file has a mistake; none where it cannot be read. */
export async function serverSecrets(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly KnownSecret[]> {
  const file = serversFile(home);
  const read = await readSettingsFile(file).catch(() => undefined);
  if (read === undefined || namesNone(read.text)) return [];
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  return parseMcpSettings(read.text, file, env).secrets;
}

export function serversFile(home: string): string {
  return join(home, "mcp.json");
}

/** Where a server's standard error goes (MCP-8). */
export function serverLog(home: string, server_id: string): string {
  return join(home, "mcp-logs", `${server_id}.log`);
}

/** What came of `soong mcp login`. */
export function loginsFolder(home: string): string {
  return join(home, "mcp-logins");
}

/** Said without reading any further; whatever is not plainly so is read. */
function namesNone(text: string): boolean {
  try {
    const given = JSON.parse(text) as Readonly<Record<string, object>>;
    const [only = "mcpServers", ...more] = Object.keys(given);
    const { mcpServers = {} } = given;
    const isObject = !Array.isArray(given) && !Array.isArray(mcpServers);
    return (
      isObject && more.length === 0 && only === "mcpServers" && Object.keys(mcpServers).length === 0
    );
  } catch {
    return false;
  }
}

function refuse(error: unknown): never {
  if (error instanceof ConfigError) {
    throw new SetupError(error.problems.map(describeProblem), NEXT);
  }
  throw error;
}
