// A remote MCP server that wants a login, and the authorization server that issues its tokens: both real, on
// ports of this machine, and as hostile as a test makes them.

import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

type Fields = Record<string, unknown>;

/** What a test may change, at any time. */
export interface Behaviour {
  /** Of the server, about its login. */
  resourceMetadata: (document: Fields) => unknown;
  issuerMetadata: (document: Fields) => unknown;
  /** The parameters of the answer the user's browser brings back. */
  answer: (parameters: URLSearchParams) => void;
  tokens: (answer: Fields) => unknown;
  /** Takes over an answer of either server when it returns true. */
  intercept: (path: string, response: ServerResponse) => boolean;
  expiresIn: number | undefined;
  /** What a call needs; the rest needs "basic". */
  callScope: string;
  registers: boolean;
  /** What a call is answered with, by the token it came with. */
  says: (token: string) => string;
}

export interface AuthorizationWorld {
  readonly behaviour: Behaviour;
  /** The MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Paths asked for at the authorization server, in order. */
  readonly asked: string[];
  readonly tokenRequests: URLSearchParams[];
  readonly authorizations: URLSearchParams[];
  readonly registrations: Fields[];
  readonly revoked: string[];
  /** The headers of what reached the MCP server. */
  readonly received: IncomingMessage["headers"][];
  /** Access tokens are not accepted any more; refresh tokens are. */
  expire(): void;
  /** What a browser does in which everyone says yes. */
  readonly visit: (url: string) => Promise<void>;
  stopIssuer(): Promise<void>;
  close(): Promise<void>;
}

export async function startAuthorizationWorld(): Promise<AuthorizationWorld> {
  const servers: Server[] = [];
  const listen = async (handle: RequestListener): Promise<string> => {
    const server = createServer(handle);
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const close = async (server: Server | undefined): Promise<void> => {
    if (server?.listening !== true) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };

  const behaviour: Behaviour = {
    resourceMetadata: (document) => document,
    issuerMetadata: (document) => document,
    answer: () => {},
    tokens: (answer) => answer,
    intercept: () => false,
    expiresIn: 3600,
    callScope: "basic",
    registers: true,
    says: () => "done",
  };
  const asked: string[] = [];
  const tokenRequests: URLSearchParams[] = [];
  const authorizations: URLSearchParams[] = [];
  const registrations: Fields[] = [];
  const revoked: string[] = [];
  const received: IncomingMessage["headers"][] = [];
  const codes = new Map<string, URLSearchParams>();
  const access = new Map<string, string[]>();
  const refresh = new Map<string, string[]>();

  const issuer = await listen((request, response) => void authorizationServer(request, response));
  const origin = await listen((request, response) => void resourceServer(request, response));
  const url = `${origin}/mcp`;
  const metadataUrl = `${origin}/login-metadata`;
  let lastToken = "";
  const handle = toNodeHandler(createMcpHandler(() => echoServer(() => behaviour.says(lastToken))));

  async function authorizationServer(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", issuer);
    asked.push(pathname);
    if (behaviour.intercept(pathname, response)) return;
    switch (pathname) {
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, behaviour.issuerMetadata(metadata()));
      case "/register": {
        const given = JSON.parse(await bodyOf(request)) as Fields;
        registrations.push(given);
        return json(response, 201, { ...given, client_id: `client-${registrations.length}` });
      }
      case "/authorize": {
        authorizations.push(searchParams);
        const code = `code-${randomUUID()}`;
        codes.set(code, searchParams);
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", searchParams.get("state") ?? "");
        back.searchParams.set("iss", issuer);
        behaviour.answer(back.searchParams);
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      case "/token":
        return token(new URLSearchParams(await bodyOf(request)), response);
      case "/revoke":
        revoked.push(new URLSearchParams(await bodyOf(request)).get("token") ?? "");
        response.writeHead(200).end();
        return;
      default:
        response.writeHead(404).end();
    }
  }

  function metadata(): Fields {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      ...(behaviour.registers ? { registration_endpoint: `${issuer}/register` } : {}),
      revocation_endpoint: `${issuer}/revoke`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  function token(given: URLSearchParams, response: ServerResponse): void {
    tokenRequests.push(given);
    const scopes = scopesFor(given);
    if (scopes === undefined) return json(response, 400, { error: "invalid_grant" });
    const answer = {
      access_token: `access-${randomUUID()}`,
      refresh_token: `refresh-${randomUUID()}`,
      token_type: "Bearer",
      scope: scopes.join(" "),
      ...(behaviour.expiresIn === undefined ? {} : { expires_in: behaviour.expiresIn }),
    };
    access.set(answer.access_token, scopes);
    refresh.set(answer.refresh_token, scopes);
    return json(response, 200, behaviour.tokens(answer));
  }

  /** A code and a refresh token are good for one use; PKCE is checked. */
  function scopesFor(given: URLSearchParams): string[] | undefined {
    if (given.get("grant_type") === "refresh_token") {
      const old = given.get("refresh_token") ?? "";
      const scopes = refresh.get(old);
      refresh.delete(old);
      return scopes;
    }
    const code = given.get("code") ?? "";
    const asking = codes.get(code);
    codes.delete(code);
    const verifier = given.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const isSame =
      asking?.get("code_challenge") === challenge &&
      asking.get("redirect_uri") === given.get("redirect_uri") &&
      asking.get("resource") === url &&
      given.get("resource") === url;
    return isSame ? (asking.get("scope") ?? "").split(" ") : undefined;
  }

  async function resourceServer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", origin);
    if (behaviour.intercept(pathname, response)) return;
    if (pathname === "/login-metadata") {
      const document = { resource: url, authorization_servers: [issuer] };
      return json(response, 200, behaviour.resourceMetadata(document));
    }
    if (pathname !== "/mcp") return void response.writeHead(404).end();
    received.push(request.headers);
    const body = await bodyOf(request);
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const scopes = access.get(token);
    const needed = body.includes('"tools/call"') ? behaviour.callScope : "basic";
    if (scopes === undefined) return refuse(response, 401, `scope="basic"`);
    if (!scopes.includes(needed)) {
      return refuse(response, 403, `error="insufficient_scope", scope="${needed}"`);
    }
    lastToken = token;
    await handle(request, response, body === "" ? undefined : JSON.parse(body));
  }

  function refuse(response: ServerResponse, status: number, why: string): void {
    const challenge = `Bearer ${why}, resource_metadata="${metadataUrl}"`;
    response.writeHead(status, { "www-authenticate": challenge }).end();
  }

  return {
    behaviour,
    url,
    issuer,
    asked,
    tokenRequests,
    authorizations,
    registrations,
    revoked,
    received,
    expire: () => access.clear(),
    async visit(address) {
      await (await fetch(address)).text();
    },
    stopIssuer: () => close(servers[0]),
    async close() {
      await Promise.all(servers.map(close));
    },
  };
}

function echoServer(says: () => string): McpServer {
  const mcp = new McpServer({ name: "remote", version: "3" }, { capabilities: { tools: {} } });
  mcp.server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object" } }],
  }));
  mcp.server.setRequestHandler("tools/call", () => ({ content: [{ type: "text", text: says() }] }));
  return mcp;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof value === "string" ? value : JSON.stringify(value));
}
