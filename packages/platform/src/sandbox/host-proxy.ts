// The only way out of a sandbox with open hosts: an HTTP proxy of the runtime. Each connection is judged by the name the client
// gives, then by the address that name leads to, and goes to that very address. What is refused is on record.

import type { lookup } from "node:dns";
import {
  createServer,
  request as requestHttp,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { connect, isIP, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { messageOf } from "@soong/core";
import { canonicalHost } from "@soong/core/internal";
import { isPrivateAddress, lookUpOpen } from "../network/private-address.ts";
import type { RefusedHost, SandboxProfile } from "../process/index.ts";

export interface HostProxy {
  /** Serves what connects to this listening socket. */
  serve(listener: Server): void;
  /** Each host and port once, in the order they were wanted. */
  refused(): readonly RefusedHost[];
  /** Ends every connection. */
  close(): void;
}

export interface HostProxyOptions extends Pick<SandboxProfile, "openHosts" | "onRefusedHost"> {
  readonly refuseHost: NonNullable<SandboxProfile["refuseHost"]>;
  /** How names are resolved: as the system does, unless given. */
  readonly resolve?: typeof lookup;
}

const MAX_CONNECTIONS = 256;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_RECORDED = 100;
const HEADERS_MS = 30_000;
const IDLE_MS = 60_000;
const CONNECT_MS = 30_000;

export function openHostProxy(options: HostProxyOptions): HostProxy {
  const sockets = new Set<Socket>();
  const refused = new Map<string, RefusedHost>();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    keepAliveTimeout: IDLE_MS,
    // An upload may take as long as it takes.
    requestTimeout: 0,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", keep);
  // What fails in a way that no one foresaw costs its connection, and not the runtime.
  server.on("error", () => {});
  server.on("request", (request, response) => {
    forward(request, response).catch(() => response.destroy());
  });
  server.on("connect", (request, client, head) => {
    tunnel(request, client as Socket, head).catch(() => client.destroy());
  });
  return {
    serve: (listener) => void server.listen(listener),
    refused: () => [...refused.values()],
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };

  function keep(socket: Socket): void {
    sockets.add(socket);
    // Both ends break off as they like; what that means is known where the connection is used.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  }

  async function tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const answer = ({ status, text }: Answer): void => {
      const reason = text.replaceAll(/[^\x20-\x7e]/g, "?");
      client.end(
        `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${reason.length + 1}\r\n\r\n${reason}\n`,
      );
    };
    const remote = await open(readAuthority(request.url ?? ""));
    if ("status" in remote) return answer(remote);
    if (client.destroyed) return void remote.destroy();
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) remote.write(head);
    joinEnds(client, remote);
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = ({ status, text }: Answer): void => {
      if (response.headersSent) return void response.destroy();
      // What is left of the request is not read.
      const headers = { "content-type": "text/plain", connection: "close" };
      response.writeHead(status, headers).end(`${text}\n`);
    };
    const target = readUrl(request.url ?? "");
    const remote = await open(target);
    if (target === undefined || "status" in remote) {
      return answer("status" in remote ? remote : MALFORMED);
    }
    if (response.destroyed) return void remote.destroy();
    try {
      const sent = requestHttp({
        createConnection: () => remote,
        method: request.method,
        path: target.path,
        // The host that was judged, also where the client names another one in its header.
        headers: [...ownHeaders(request), "Host", target.authority, "Connection", "close"],
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      response.once("close", () => sent.destroy());
      sent.once("error", (error) => answer(unreachable(target.host, error)));
      sent.once("response", (received) => {
        try {
          const { statusCode = 502, statusMessage } = received;
          // Node frames it as this client can read it.
          const headers = ownHeaders(received, "transfer-encoding");
          response.writeHead(statusCode, statusMessage, headers);
        } catch (error) {
          sent.destroy();
          return answer(unreachable(target.host, error));
        }
        pipeline(received, response, () => {});
      });
      request.pipe(sent);
    } catch (error) {
      remote.destroy();
      answer({ status: 400, text: `This request cannot be passed on: ${messageOf(error)}.` });
    }
  }

  async function open(target: Target | undefined): Promise<Socket | Answer> {
    if (target === undefined) return MALFORMED;
    const { host, port } = target;
    try {
      const why = options.refuseHost(host, port);
      if (why !== undefined) throw new Refusal(why);
      return await connectTo(target);
    } catch (error) {
      if (!(error instanceof Refusal)) return unreachable(host, error);
      const why = error.message;
      note({ host, port, why });
      return { status: 403, text: `Closed by the sandbox: ${host} ${why}.` };
    }
  }

  function note(one: RefusedHost): void {
    const key = `${one.host}:${one.port}`;
    if (refused.has(key) || refused.size >= MAX_RECORDED) return;
    refused.set(key, one);
    options.onRefusedHost?.(one);
  }

  function connectTo({ host, port }: Target): Promise<Socket> {
    const bare = host.replaceAll(/^\[|\]$/g, "");
    const refuse = (address: string): Refusal | undefined =>
      isPrivateAddress(address) && !isNamed(host, address, port)
        ? new Refusal(
            `is ${isIP(bare) === 0 ? `at ${address}, ` : ""}an address of this machine or of a private network, and no rule opens that very address`,
          )
        : undefined;
    return new Promise((resolve, reject) => {
      // One client connection can carry many requests before the first is answered.
      if (sockets.size >= 2 * MAX_CONNECTIONS) throw new Error("too many connections are open");
      const closed = isIP(bare) === 0 ? undefined : refuse(bare);
      if (closed !== undefined) throw closed;
      const socket = connect({
        host: bare,
        port,
        allowHalfOpen: true,
        lookup: lookUpOpen(({ address }) => refuse(address), options.resolve),
      });
      keep(socket);
      socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("it does not answer")));
      socket.once("error", reject).once("connect", () => {
        socket.setTimeout(0);
        resolve(socket);
      });
    });
  }

  /** The user names it: that address, or localhost for what leads to this machine. A pattern is no name of a private host. */
  function isNamed(host: string, address: string, port: number): boolean {
    const spelled = canonicalHost(address.split("%")[0] ?? "");
    const names = host === "localhost" ? [host, spelled] : [spelled];
    const named = names.filter((name) =>
      options.openHosts?.some((one) => canonicalHost(one) === name),
    );
    return named.some((name) => name !== undefined && options.refuseHost(name, port) === undefined);
  }
}

class Refusal extends Error {}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const MALFORMED: Answer = {
  status: 400,
  text: "This is an HTTP proxy: it takes CONNECT host:port and requests for http:// addresses.",
};

function unreachable(host: string, error: unknown): Answer {
  return { status: 502, text: `${host} cannot be reached: ${messageOf(error)}.` };
}

interface Target {
  /** As the policy spells it. */
  readonly host: string;
  readonly port: number;
}

/** `host:port`; undefined for anything that two readers could take for two hosts. */
function readAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, name = "", digits] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const host = canonicalHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

function readUrl(url: string): (Target & { path: string; authority: string }) | undefined {
  const [, authority = "", path = ""] = /^http:\/\/([^/?#]+)([^#]*)$/i.exec(url) ?? [];
  const target = readAuthority(authority, 80);
  if (target === undefined) return undefined;
  const { host, port } = target;
  return {
    ...target,
    path: path.startsWith("/") ? path : `/${path}`,
    authority: port === 80 ? host : `${host}:${port}`,
  };
}

/** Between two neighbours only (RFC 9110, 7.6.1), and the host, which is set anew. */
const OF_THE_CONNECTION = new Set(
  "connection proxy-connection keep-alive proxy-authorization proxy-authenticate te trailer upgrade expect host".split(
    " ",
  ),
);

/** The headers that are meant for the other end, in pairs. Node has refused a message with two lengths, and frames it anew. */
function ownHeaders(message: IncomingMessage, without?: string): string[] {
  const named = (message.headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  const kept: string[] = [];
  const { rawHeaders } = message;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    const key = name.toLowerCase();
    const isFraming = key === "content-length" || key === "transfer-encoding";
    if (key === without || OF_THE_CONNECTION.has(key) || (named.includes(key) && !isFraming))
      continue;
    kept.push(name, value);
  }
  return kept;
}

/** Each direction ends on its own; when one side is gone the other gets what was on its way, and nothing more. */
function joinEnds(client: Socket, remote: Socket): void {
  for (const [from, to] of [
    [client, remote],
    [remote, client],
  ] as const) {
    from.pipe(to);
    from.once("error", () => to.destroy());
    from.once("close", () => to.destroySoon());
  }
}
