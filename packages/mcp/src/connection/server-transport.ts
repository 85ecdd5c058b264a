// The way to a server, as its entry says: a program of ours, or an address.

import { homedir } from "node:os";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";
import { environmentOutside } from "@soong/platform";
import { createAccessTokens, type AccessTokens } from "../authorization/index.ts";
import type { McpServerEntry } from "../settings/index.ts";
import { openRedactedLog } from "./redacted-log.ts";
import type { ConnectionOptions } from "./connection-types.ts";
import { createHttpTransport } from "./http-transport.ts";
import { createStdioTransport, type StdioTransport } from "./stdio-transport.ts";

export type ServerTransport =
  | { readonly kind: "stdio"; readonly transport: StdioTransport }
  | {
      readonly kind: "http";
      readonly transport: StreamableHTTPClientTransport;
      /** Unless the entry brings its own authorization, or there is nowhere to keep one. */
      readonly tokens: AccessTokens | undefined;
    };

export function createServerTransport(
  entry: McpServerEntry,
  options: ConnectionOptions,
  clock: Clock,
): ServerTransport {
  const { transport, server_id } = entry;
  if (transport.kind === "http") {
    const { logins, onSecret } = options;
    const { url: serverUrl, headers, oauth: settings = {} } = transport;
    const tokens =
      logins === undefined || hasOwnAuthorization(headers)
        ? undefined
        : createAccessTokens({ server_id, serverUrl, settings, logins, clock, onSecret });
    return {
      kind: "http",
      transport: createHttpTransport({ url: serverUrl, headers, tokens }),
      tokens,
    };
  }
  const { roots } = options;
  const stdio = createStdioTransport({
    command: transport.command,
    args: transport.args,
    // An allowlist of names and what its entry sets, never the rest (MCP-8).
    env: environmentOutside(roots, {
      from: options.environment ?? process.env,
      allowlist: options.envAllowlist,
      extra: transport.env,
    }),
    cwd: transport.cwd ?? options.cwd ?? homedir(),
    roots,
    log:
      options.logFile === undefined
        ? undefined
        : openRedactedLog(options.logFile, options.redactor),
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

export function hasOwnAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/** What no one but the server may see, as far as it is known by now. */
export function secretsOfWay(way: ServerTransport, entry: McpServerEntry): readonly string[] {
  const tokens = way.kind === "http" ? (way.tokens?.secrets ?? []) : [];
  return [...tokens, ...secretsOf(entry)];
}

/** What the entry gives to the server and no one else. Longest first: one may be part of another. */
function secretsOf({ transport }: McpServerEntry): readonly string[] {
  const given = Object.values(transport.kind === "stdio" ? transport.env : transport.headers);
  const credentials = given.map((value) => value.slice(value.lastIndexOf(" ") + 1));
  return [...given, ...credentials].toSorted((a, b) => b.length - a.length);
}
