// The way to a server, as its entry says: a program of ours, or an address.

import { homedir } from "node:os";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpServerEntry } from "../settings/index.ts";
import { openBoundedLog } from "./bounded-log.ts";
import type { ConnectionOptions } from "./connection-types.ts";
import { serverEnvironment } from "./environment.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createStdioTransport, type StdioTransport } from "./stdio-transport.ts";

export type ServerTransport =
  | { readonly kind: "stdio"; readonly transport: StdioTransport }
  | { readonly kind: "http"; readonly transport: StreamableHTTPClientTransport };

export function createServerTransport(
  entry: McpServerEntry,
  options: ConnectionOptions,
): ServerTransport {
  const { transport } = entry;
  if (transport.kind === "http") {
    return { kind: "http", transport: createHttpTransport(transport) };
  }
  const stdio = createStdioTransport({
    command: transport.command,
    args: transport.args,
    env: serverEnvironment({
      from: options.environment ?? process.env,
      allowlist: options.envAllowlist,
      entry: transport.env,
    }),
    cwd: transport.cwd ?? options.cwd ?? homedir(),
    log: options.logFile === undefined ? undefined : openBoundedLog(options.logFile),
    secrets: secretsOf(entry),
  });
  return { kind: "stdio", transport: stdio };
}

/** Why it is over, once that is known: only a process of ours says so. */
export function endOf(way: ServerTransport): string | undefined {
  return way.kind === "stdio" ? way.transport.end : undefined;
}

/** Settles when nothing of it is left; never rejects. */
export async function endTransport(way: ServerTransport): Promise<void> {
  await way.transport.close().catch(() => {});
  if (way.kind === "stdio") await way.transport.gone;
}

/** What the entry gives to the server and nobody else. Longest first: one may be part of another. */
export function secretsOf({ transport }: McpServerEntry): readonly string[] {
  const given = Object.values(transport.kind === "stdio" ? transport.env : transport.headers);
  const credentials = given.map((value) => value.slice(value.lastIndexOf(" ") + 1));
  return [...given, ...credentials].toSorted((a, b) => b.length - a.length);
}
