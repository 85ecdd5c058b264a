// The way to a server, as its entry says: a program of ours, or an address. Over HTTP it is the SDK's transport, with
// bounds on what it reads. Redirects stay within the origin (the SDK's own rule), so that no header of the entry
// reaches another host.

import { homedir } from "node:os";
import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";
import { environmentOutside, inTime, LineTooLong } from "@soong/platform";
import {
  createAccessTokens,
  type AccessTokens,
  type Refusal,
} from "../authorization/access-tokens.ts";
import type { McpServerEntry, McpTransport } from "../settings/index.ts";
import type { ConnectionOptions } from "./connected-server.ts";
import { openRedactedLog } from "./server-log.ts";
import { createStdioTransport } from "./stdio-transport.ts";

export interface ServerTransport {
  readonly kind: "stdio" | "http";
  readonly transport: Transport;
  /** Why it is over, once that is known: only a process of ours says so. */
  end(): string | undefined;
  /** Lines on its output that were no messages. */
  garbageLines(): number;
  /** Why the server wants a login, if it said so. */
  refusal(): Refusal | undefined;
  /** The same for a server that does want one, whether or not it said why. */
  describeRefusal(): Refusal;
  /** What no one but the server may see, as far as it is known by now. */
  secrets(): readonly string[];
  /** Tells the server that we leave, where that is a request. */
  leave(): Promise<void>;
  /** Settles when nothing of it is left; never rejects. */
  close(): Promise<void>;
}

const GOODBYE_MS = 1000;

export function createServerTransport(
  entry: McpServerEntry,
  options: ConnectionOptions,
  clock: Clock,
): ServerTransport {
  const { transport: given, server_id, hosts } = entry;
  const secrets = listSecrets(given);
  const wantsLogin = {
    message: `it wants a login (HTTP 401). Log in: soong mcp login ${server_id}`,
    isOver: true,
  };
  if (given.kind === "stdio") {
    const stdio = startableServer(given, options, { secrets, hosts });
    return {
      kind: "stdio",
      transport: stdio,
      end: () => stdio.end,
      garbageLines: () => stdio.garbageLines,
      refusal: () => undefined,
      describeRefusal: () => wantsLogin,
      secrets: () => secrets,
      leave: async () => {},
      async close() {
        await stdio.close().catch(() => {});
        await stdio.gone;
      },
    };
  }
  const { url: serverUrl, headers, oauth: settings = {} } = given;
  const { logins, onSecret } = options;
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  // Unless the entry brings its own authorization, or there is nowhere to keep one.
  const tokens =
    logins === undefined || hasOwn
      ? undefined
      : createAccessTokens({ server_id, serverUrl, settings, logins, clock, onSecret });
  const http = createHttpTransport(serverUrl, headers, tokens);
  const notAccepted = "it does not accept the authorization in the headers of its entry (HTTP 401)";
  return {
    kind: "http",
    transport: http,
    end: () => undefined,
    garbageLines: () => 0,
    refusal: () => tokens?.refusal,
    describeRefusal: () =>
      tokens?.refusal ?? (hasOwn ? { message: notAccepted, isOver: true } : wantsLogin),
    secrets: () => [...(tokens?.secrets ?? []), ...secrets],
    async leave() {
      await inTime(http.terminateSession(), { ms: GOODBYE_MS }).catch(() => {});
    },
    close: () => http.close().catch(() => {}),
  };
}

/** What the entry gives to the server and no one else. Longest first: one may be part of another. */
function listSecrets(transport: McpTransport): readonly string[] {
  const given = Object.values(transport.kind === "stdio" ? transport.env : transport.headers);
  const credentials = given.map((value) => value.slice(value.lastIndexOf(" ") + 1));
  return [...given, ...credentials].toSorted((a, b) => b.length - a.length);
}

function startableServer(
  { command, args, env, cwd, sandbox }: Extract<McpTransport, { kind: "stdio" }>,
  options: ConnectionOptions,
  { secrets, hosts }: { readonly secrets: readonly string[]; readonly hosts: readonly string[] },
) {
  const { roots, envAllowlist: allowlist, environment: from = process.env, logFile } = options;
  return createStdioTransport({
    command,
    args,
    // An allowlist of names and what its entry sets, never the rest (MCP-8).
    env: environmentOutside(roots, { from, allowlist, extra: env }),
    cwd: cwd ?? options.cwd ?? homedir(),
    roots,
    log: logFile === undefined ? undefined : openRedactedLog(logFile, options.redactor),
    secrets,
    // The hosts that the entry says its tools reach, unless the sandbox has a list of its own.
    sandbox: sandbox && { hosts, ...sandbox },
    openSandbox: options.openSandbox,
    onRefusedHost: options.onRefusedHost,
  });
}

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

function createHttpTransport(
  url: string,
  headers: Readonly<Record<string, string>>,
  tokens: AccessTokens | undefined,
): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: "same-origin",
    onInsufficientScope: "throw",
    authProvider: tokens,
    fetch: async (url, init) => {
      const response = boundResponse(await fetch(url, init));
      await tokens?.noteAnswer(response, new Headers(init?.headers).get("authorization"));
      return response;
    },
    reconnectionOptions: {
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 5,
    },
  });
}

/** Of a stream of events each event counts alone: as a whole it has no end. */
function boundResponse(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  /** Of what has not ended: an empty line ends an event, and the reader keeps its lines until then. */
  let size = 0;
  let last: Buffer = Buffer.alloc(0);
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      size += bytes.length;
      if (isStream) {
        const seen = Buffer.concat([last, bytes]);
        const end = Math.max(seen.lastIndexOf("\n\n"), seen.lastIndexOf("\n\r\n"));
        if (end !== -1) size = seen.length - end;
        last = seen.subarray(-2);
      }
      if (size > MAX_MESSAGE_BYTES) controller.error(new LineTooLong(MAX_MESSAGE_BYTES));
      else controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(bound), { status, statusText, headers });
  // A copy has no address of its own; the SDK judges redirects by it.
  Object.defineProperty(copy, "url", { value: response.url });
  Object.defineProperty(copy, "redirected", { value: response.redirected });
  return copy;
}
