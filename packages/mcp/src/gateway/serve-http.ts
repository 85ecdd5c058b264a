// The gateway over streamable HTTP (GATE-1): on loopback, behind a token, both eras at one address. A client of the older
// has a session that begins with initialize and ends with DELETE, with its place when there are too many, or after a long
// silence; of the newer every request is independent, so those share one run.

import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from "@modelcontextprotocol/server";
import { asRecord } from "@soong/schema";
import { followListened } from "./client-relay.ts";
import type { ClientNews, GatewayClient } from "./client.ts";
import type { GatewayOptions } from "./client-runs.ts";
import { openGateway, type Gateway } from "./gateway.ts";
import { announce, createProtocolServer, readMessageId } from "./protocol-server.ts";

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
    (isAuthorized(request.headers.authorization) || refuseUnauthorized(response));

  function isAuthorized(header: string | undefined): boolean {
    const given = /^Bearer +(\S+) *$/iu.exec(header ?? "")?.[1];
    // Digests have one length, for any input.
    return given !== undefined && timingSafeEqual(digest(given), expected);
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function refuseUnauthorized(response: ServerResponse): false {
  const error = { code: -32_001, message: "send the token: Authorization: Bearer <token>" };
  response.writeHead(401, { "www-authenticate": "Bearer", "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
  return false;
}

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly mcp: McpServer;
  readonly client: GatewayClient;
  heardAt: number;
  /** Streams the client holds open to hear from us. */
  streams: number;
}

function createHttpSessions(
  gateway: Gateway,
  identity: GatewayOptions["server"],
  { maxSessions, idleMs }: { readonly maxSessions: number; readonly idleMs: number },
) {
  const sessions = new Map<string, HttpSession>();
  let beginning = 0;
  const sweep = setInterval(() => void expire(), Math.min(idleMs, 60_000));
  sweep.unref();

  return {
    async handle(request: Request, body: unknown): Promise<Response> {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        if (asRecord(body)["method"] === "initialize") return begin(request, body);
        const message = "send initialize first, then Mcp-Session-Id with every request";
        return refusal(400, body, -32_600, message);
      }
      const session = sessions.get(id);
      if (session !== undefined) return serve(session, request, body);
      const message = "there is no such session, or it has expired; initialize again";
      return refusal(404, body, -32_001, message);
    },
    async close(): Promise<void> {
      clearInterval(sweep);
      await Promise.all([...sessions.keys()].map((id) => end(id, "the gateway is closing")));
    },
  };

  async function begin(request: Request, body: unknown): Promise<Response> {
    while (sessions.size + beginning >= maxSessions) {
      if (await makeRoom()) continue;
      return refusal(503, body, -32_000, `${maxSessions} sessions are at work; try again later`);
    }
    // It has its place from now on: many may begin while one waits for the servers behind.
    beginning += 1;
    let id: string;
    let session: HttpSession;
    try {
      [id, session] = await createSession();
    } finally {
      beginning -= 1;
    }
    const response = await serve(session, request, body);
    // Refused by the transport: no one knows of this session.
    if (!response.ok) await end(id, "initialize was refused");
    return response;
  }

  async function createSession(): Promise<[string, HttpSession]> {
    const id = randomUUID();
    let tell = (_news: ClientNews): void => {};
    const client = gateway.client((news) => tell(news));
    await client.ready();
    const mcp = createProtocolServer(client, "legacy", identity);
    tell = (news) => announce(mcp, news);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => end(id, "the client has ended its session"),
    });
    await mcp.connect(transport);
    const session = { transport, mcp, client, heardAt: performance.now(), streams: 0 };
    sessions.set(id, session);
    return [id, session];
  }

  async function serve(session: HttpSession, request: Request, body: unknown): Promise<Response> {
    session.heardAt = performance.now();
    const repeated = readIds(body).find((id) => session.client.isServing(id));
    if (repeated !== undefined) {
      const message = `the id ${JSON.stringify(repeated)} is that of an open request`;
      return refusal(400, undefined, -32_600, message);
    }
    const given = body === undefined ? {} : { parsedBody: body };
    const response = await session.transport.handleRequest(request, given);
    if (request.method === "GET" && response.ok && !request.signal.aborted) {
      session.streams += 1;
      request.signal.addEventListener("abort", () => {
        session.streams -= 1;
        session.heardAt = performance.now();
      });
    }
    return response;
  }

  async function end(id: string, reason: string): Promise<void> {
    const session = sessions.get(id);
    if (session === undefined) return;
    sessions.delete(id);
    await gateway.leave(session.client, reason);
    await session.mcp.close();
  }

  async function expire(): Promise<void> {
    const before = performance.now() - idleMs;
    const old = [...sessions].filter(([, one]) => isIdle(one) && one.heardAt <= before);
    await Promise.all(old.map(([id]) => end(id, "the session has expired")));
  }

  /** The one with the longest silence, if it is idle. */
  async function makeRoom(): Promise<boolean> {
    const idle = [...sessions].filter(([, one]) => isIdle(one));
    const [oldest] = idle.toSorted(([, a], [, b]) => a.heardAt - b.heardAt);
    if (oldest === undefined) return false;
    await end(oldest[0], "its place was needed");
    return true;
  }
}

function isIdle({ client, streams }: HttpSession): boolean {
  return client.openCalls === 0 && streams === 0;
}

function readIds(body: unknown): (string | number)[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const id = readMessageId(message);
    return id === null || typeof asRecord(message)["method"] !== "string" ? [] : [id];
  });
}

/** An answer to a request that never reaches a client: HTTP status and JSON-RPC error together. */
function refusal(status: number, body: unknown, code: number, message: string): Response {
  return Response.json(
    { jsonrpc: "2.0", id: readMessageId(body), error: { code, message } },
    { status },
  );
}
