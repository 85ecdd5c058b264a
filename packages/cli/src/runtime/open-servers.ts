// The servers of mcp.json, as they come into a runtime: their pins, logs and logins lie in the home (MCP-7, MCP-8).
// Nothing is connected before someone is about to need it.

import { join } from "node:path";
import { messageOf, type Redactor, type Registry, type Roots } from "@soong/core";
import {
  createPins,
  openConnection,
  openMcpLogins,
  openMcpServers,
  openPinFile,
  type McpSecret,
  type McpServerEntry,
  type McpServers,
  type McpServersOptions,
  type RecordServerFact,
} from "@soong/mcp";
import { loginsFolder, serverLog } from "./user-servers.ts";
import { SetupError } from "./home.ts";

export interface OpenServersOptions {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the agent works: no program of a server is taken from there (MCP-11). */
  readonly roots: Roots;
  readonly entries: readonly McpServerEntry[];
  readonly registry: Registry;
  /** Someone is there whom a server may ask (MCP-5). */
  readonly canElicit: boolean;
  /** Whom a server may ask for what only a host has (GATE-2). */
  readonly host?: McpServersOptions["host"];
  readonly record?: RecordServerFact;
  /** Told every token of a login, so that none is shown. */
  readonly onSecret: (secret: McpSecret) => void;
  /** Knows all secrets of the home, and those told to `onSecret`. */
  readonly redactor: Redactor;
}

export async function openServers(options: OpenServersOptions): Promise<McpServers> {
  const { home, env, roots, entries, registry, canElicit, host } = options;
  const { record, onSecret, redactor } = options;
  const logins = openMcpLogins(loginsFolder(home));
  const pins = await createPins(openPinFile(join(home, "mcp-pins.json"))).catch(refuse);
  return openMcpServers({
    entries,
    registry,
    pins,
    connect: (entry) =>
      openConnection(entry, {
        environment: env,
        roots,
        logFile: serverLog(home, entry.server_id),
        canElicit,
        canSample: host !== undefined,
        canListRoots: host !== undefined,
        logins,
        onSecret,
        redactor,
      }),
    redactor,
    host,
    record,
  });
}

/** Without them no one knows what was allowed: nothing of a server is offered then. */
function refuse(error: unknown): never {
  throw new SetupError(
    [messageOf(error)],
    "Fix that file, or move it away: every MCP tool is then new, and requires approval again.",
  );
}
