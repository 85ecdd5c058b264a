// What goes back to the page: JSON or a file, always with the headers that keep other pages out and nothing in a cache.
// A client that does not read what it asked for is cut off.

import type { ServerResponse } from "node:http";
import type { Refused } from "./refused.ts";

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
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

export function sendJson(response: ServerResponse, value: unknown): void {
  sendBytes(response, 200, "application/json", Buffer.from(JSON.stringify(value)));
}

export function sendRefusal(response: ServerResponse, { status, problem, allow }: Refused): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (allow !== undefined) response.setHeader("allow", allow.join(", "));
  if (status === 401) response.setHeader("www-authenticate", "Bearer");
  sendBytes(response, status, "application/json", Buffer.from(JSON.stringify(problem)));
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
