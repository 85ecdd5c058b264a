// What goes back to the page: JSON, a file, or a problem; always with the headers that keep other pages out and nothing in
// a cache. A client that does not read what it asked for is cut off.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { StoreError, type StoreErrorCode } from "@soong/store";
import type { Problem, ProblemCode } from "../wire/routes.ts";
import { InspectorError } from "./ports.ts";
import type { Redact } from "./safe-cut.ts";

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** How long a client may take to read an answer. */
const READ_MS = 60_000;

const STATUS: Readonly<Record<ProblemCode, number>> = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  bad_request: 400,
  too_large: 413,
  settled: 409,
  gone: 410,
  unsupported: 501,
  failed: 500,
};

const NOT_FOUND: ReadonlySet<StoreErrorCode> = new Set([
  "session_unknown",
  "session_removed",
  "run_unknown",
  "node_unknown",
] as const);

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  sendBytes(response, status, "application/json", Buffer.from(JSON.stringify(value)));
}

/** A message may quote a file, or what was asked for: its secrets are hidden as in any record. */
export function sendError(response: ServerResponse, error: unknown, redact: Redact): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const refused = toInspectorError(error);
  const status = refused.status ?? STATUS[refused.code];
  if (refused.allow !== undefined) response.setHeader("allow", refused.allow.join(", "));
  if (status === 401) response.setHeader("www-authenticate", "Bearer");
  sendJson(response, describeProblem(refused, redact), status);
}

/** Always a sentence, never a stack trace. */
export function toInspectorError(error: unknown): InspectorError {
  if (error instanceof InspectorError) return error;
  if (error instanceof StoreError) {
    return new InspectorError(NOT_FOUND.has(error.code) ? "not_found" : "failed", error.message);
  }
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return new InspectorError(
    "failed",
    `The inspector could not answer: ${message === "" ? "the reason is unknown" : message}. Try again, or restart it.`,
  );
}

export function sendBytes(
  response: ServerResponse,
  status: number,
  type: string,
  bytes: Buffer,
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    "content-type": type.startsWith("text/") ? `${type}; charset=utf-8` : type,
    "content-length": bytes.length,
  });
  const late = setTimeout(() => response.destroy(), READ_MS);
  response.once("close", () => clearTimeout(late));
  response.end(bytes);
}

/** Bytes that are not a request get an answer with the same headers, and the connection ends. */
export function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The headers of this request are too long."]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "This request did not come in time."]
        : ["400 Bad Request", "This is not a request."];
  const body = JSON.stringify(describeProblem(new InspectorError("bad_request", message)));
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status}\r\n${lines}\r\n${body}`, () => socket.destroy());
}

function describeProblem({ code, message }: InspectorError, redact: Redact = String): Problem {
  return { error: { code, message: redact(message) } };
}
