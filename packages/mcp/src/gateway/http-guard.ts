// Who may use the gateway over HTTP (GATE-1): a request under one of our own host names, not from a page
// of someone else's, with the token. Looked at before anything of the body is read.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { hostHeaderValidation, originValidation } from "@modelcontextprotocol/node";

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const MIN_TOKEN_CHARS = 16;

export interface HttpGuardOptions {
  readonly token: string;
  /** Host names without ports; a name that resolves to this machine is not enough (DNS rebinding). */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

/** True when the request may continue; else it has been answered. */
export type HttpGuard = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createHttpGuard(options: HttpGuardOptions): HttpGuard {
  const { token, allowedHosts = LOOPBACK, allowedOrigins = LOOPBACK } = options;
  if (token.length < MIN_TOKEN_CHARS) {
    throw new RangeError(`the token of the gateway needs at least ${MIN_TOKEN_CHARS} characters`);
  }
  const isHost = hostHeaderValidation([...allowedHosts]);
  const isOrigin = originValidation([...allowedOrigins]);
  const expected = digest(token);

  return (request, response) =>
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
