// Clients of the older protocol over HTTP: each has a session that begins with initialize and ends with
// DELETE, with its place when there are too many, or after a long silence.

import { randomUUID } from "node:crypto";
import {
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { asRecord } from "@soong/schema";
import type { ClientNews, GatewayClient } from "./client.ts";
import type { Gateway } from "./gateway.ts";
import { announce, createProtocolServer, type ServerIdentity } from "./protocol-server.ts";

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly mcp: McpServer;
  readonly client: GatewayClient;
  heardAt: number;
  /** Streams the client holds open to hear from us. */
  streams: number;
}

export function createHttpSessions(
  gateway: Gateway,
  identity: ServerIdentity,
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
    const repeated = idsOf(body).find((id) => session.client.isServing(id));
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

function idsOf(body: unknown): (string | number)[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const id = idOf(message);
    return id === null || typeof asRecord(message)["method"] !== "string" ? [] : [id];
  });
}

/** An answer to a request that never reaches a client: HTTP status and JSON-RPC error together. */
export function refusal(status: number, body: unknown, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: idOf(body), error: { code, message } }, { status });
}

export function idOf(message: unknown): string | number | null {
  const { id } = asRecord(message);
  return typeof id === "string" || typeof id === "number" ? id : null;
}
