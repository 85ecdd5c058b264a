// The gateway over streamable HTTP (GATE-1): on loopback, behind a token, both eras at one address. A client
// of the older has a session; of the newer every request is independent, so those share one run.

import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isJsonContentType, isLegacyRequest } from "@modelcontextprotocol/server";
import { openGateway, type GatewayOptions } from "./gateway.ts";
import { createHttpSessions, refusal } from "./http-sessions.ts";
import { followListened } from "./client-relay.ts";
import { createProtocolServer } from "./protocol-server.ts";

export interface GatewayHttpOptions extends GatewayOptions, GuardOptions {
  /** 0, or omitted: any free one. */
  readonly port?: number;
  /** Default: loopback, and no other machine can reach it. */
  readonly host?: string;
  readonly maxBodyBytes?: number;
  readonly maxSessions?: number;
  readonly sessionIdleMs?: number;
}

export interface ServedHttp {
  readonly url: string;
  /** Aborts what is running, ends all sessions and stops listening. */
  close(): Promise<void>;
}

const PATH = "/mcp";
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 64;
const SESSION_IDLE_MS = 30 * 60_000;
const MAX_OPEN_REQUESTS = 2_048;

export async function serveGatewayHttp(options: GatewayHttpOptions): Promise<ServedHttp> {
  const guard = createGuard(options);
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
  const gateway = openGateway(options);
  const onerror = (error: Error): void => options.onError?.(error);
  const shared = gateway.client((news) => {
    if (news.kind === "updated") modern.notify.resourceUpdated(news.uri);
    else if (news.kind === "tools") modern.notify.toolsChanged();
    else if (news.kind === "prompts") modern.notify.promptsChanged();
    else modern.notify.resourcesChanged();
  });
  const modern = createMcpHandler(
    async () => {
      await shared.ready();
      return createProtocolServer(shared, "modern", options.server);
    },
    { legacy: "reject", onerror, maxRequestBodySize: maxBodyBytes },
  );
  const sessions = createHttpSessions(gateway, options.server, {
    maxSessions: options.maxSessions ?? MAX_SESSIONS,
    idleMs: options.sessionIdleMs ?? SESSION_IDLE_MS,
  });
  const handle = toNodeHandler({ fetch: answer }, { onerror, maxRequestBodySize: maxBodyBytes });
  let open = 0;
  let closing: Promise<void> | undefined;

  const server = createServer((request, response) => {
    if (!guard(request, response)) return;
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    handle(request, response).catch(onerror);
  });
  server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    await stop();
    throw error;
  }
  const { port, address, family } = server.address() as AddressInfo;

  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}${PATH}`,
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    const stopped = once(server, "close");
    server.close();
    await stop();
    server.closeAllConnections();
    await stopped;
  }

  async function stop(): Promise<void> {
    await sessions.close();
    await gateway.close("the gateway is closing");
    await modern.close();
  }

  async function answer(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== PATH) {
      return refusal(404, undefined, -32_600, `there is nothing here; the gateway is at ${PATH}`);
    }
    if (open > MAX_OPEN_REQUESTS) {
      return refusal(503, undefined, -32_000, "too many requests are open; wait for some of them");
    }
    if (request.method !== "POST") return sessions.handle(request, undefined);
    if (!isJsonContentType(request.headers.get("content-type"))) {
      return refusal(415, undefined, -32_600, "send JSON, as content-type application/json");
    }
    const text = await request.clone().text();
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return refusal(400, undefined, -32_700, "the body is not JSON");
    }
    if (await isLegacyRequest(request, body)) return sessions.handle(request, body);
    const unfollow = followListened(body, shared.relay);
    const response = await modern.fetch(request, { parsedBody: body });
    const isStream = response.headers.get("content-type") === "text/event-stream";
    if (isStream && !request.signal.aborted) {
      request.signal.addEventListener("abort", () => unfollow?.());
    } else unfollow?.();
    return response;
  }
}

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const MIN_TOKEN_CHARS = 16;

interface GuardOptions {
  readonly token: string;
  /** Host names without ports; a name that resolves to this machine is not enough (DNS rebinding). */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

/**
 * Who may use the gateway: a request under one of our own host names, not from a page of someone else's, with the
 * token. Looked at before anything of the body is read. True when it may continue; else it has been answered.
 */
function createGuard(options: GuardOptions) {
  const { token, allowedHosts = LOOPBACK, allowedOrigins = LOOPBACK } = options;
  if (token.length < MIN_TOKEN_CHARS) {
    throw new RangeError(`the token of the gateway needs at least ${MIN_TOKEN_CHARS} characters`);
  }
  const isHost = hostHeaderValidation([...allowedHosts]);
  const isOrigin = originValidation([...allowedOrigins]);
  const expected = digest(token);

  return (request: IncomingMessage, response: ServerResponse): boolean =>
    isHost(request, response) &&
    isOrigin(request, response) &&
    (isAuthorized(request.headers.authorization) || unauthorized(response));

  function isAuthorized(header: string | undefined): boolean {
    const given = /^Bearer +(\S+) *$/iu.exec(header ?? "")?.[1];
    // Digests have one length, for any input.
    return given !== undefined && timingSafeEqual(digest(given), expected);
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function unauthorized(response: ServerResponse): false {
  const error = { code: -32_001, message: "send the token: Authorization: Bearer <token>" };
  response.writeHead(401, { "www-authenticate": "Bearer", "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
  return false;
}
