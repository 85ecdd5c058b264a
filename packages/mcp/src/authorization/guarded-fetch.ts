// Requests to addresses a server named: it may be hostile, so nothing goes anywhere unsafe, nothing is waited
// for or read without a bound, and no one sends us on to somewhere else.

import type { FetchLike } from "@modelcontextprotocol/client";
import { McpLoginFailure } from "./login-failure.ts";

const REQUEST_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 3;

/** Why nothing may be sent to this address, on behalf of the server at `serverUrl`. */
export function addressProblem(address: string | URL, serverUrl: string): string | undefined {
  if (!URL.canParse(String(address))) return "is not an address";
  const url = new URL(String(address));
  if (url.username !== "" || url.password !== "") return "has a user or password in it";
  // A server elsewhere has no business with what listens on this machine.
  if (isThisMachine(url) && !isThisMachine(new URL(serverUrl))) {
    return "is on this machine, and the server is not";
  }
  if (url.protocol === "https:") return undefined;
  return url.protocol === "http:" && isLoopback(url) ? undefined : "is not https";
}

export function guardedFetch(serverUrl: string, signal: AbortSignal): FetchLike {
  return async (address, init) => {
    let url = new URL(String(address));
    const method = init?.method ?? "GET";
    for (let redirects = 0; ; redirects += 1) {
      const problem = addressProblem(url, serverUrl);
      if (problem !== undefined) {
        throw new McpLoginFailure("insecure", `the address ${url.origin} ${problem}`);
      }
      const response = await request(url, init, signal);
      if (response.status < 300 || response.status > 399) return boundResponse(response, url);
      await response.body?.cancel();
      const next = new URL(response.headers.get("location") ?? "", url);
      if (method !== "GET" || next.origin !== url.origin || redirects === MAX_REDIRECTS) {
        throw new McpLoginFailure("insecure", `${url.origin} sends us on to another address`);
      }
      url = next;
    }
  };
}

async function request(
  url: URL,
  init: RequestInit | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const late = AbortSignal.timeout(REQUEST_MS);
  try {
    return await fetch(url, {
      ...init,
      redirect: "manual",
      signal: AbortSignal.any([signal, late]),
    });
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) throw tooSlow(url);
    const { cause } = error as { cause?: { code?: unknown } };
    const code = typeof cause?.code === "string" ? ` (${cause.code})` : "";
    throw new McpLoginFailure("unreachable", `${url.origin} cannot be reached${code}`);
  }
}

/** Read here, so that no reader has to mind how much there is; the time still counts. */
async function boundResponse(response: Response, url: URL): Promise<Response> {
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += (chunk as Uint8Array).length;
      if (size > MAX_BYTES) break;
      chunks.push(chunk as Uint8Array);
    }
  } catch {
    throw tooSlow(url);
  }
  if (size > MAX_BYTES) {
    throw new McpLoginFailure("invalid_answer", `${url.origin} answered with more than 1 MiB`);
  }
  const body = status === 204 || status === 205 ? null : Buffer.concat(chunks);
  return new Response(body, { status, statusText, headers });
}

function tooSlow(url: URL): McpLoginFailure {
  return new McpLoginFailure("unreachable", `${url.origin} did not answer in ${REQUEST_MS} ms`);
}

/** Also where no answer is expected, such as the address that means all of them. */
function isThisMachine(url: URL): boolean {
  const name = url.hostname.replace(/\.$/, "");
  return (
    isLoopback(url) ||
    /(?:^|\.)localhost$/.test(name) ||
    /^(?:0|127)(?:\.\d+){3}$/.test(name) ||
    /^\[::(?:1|ffff:(?:7f[\da-f]{2}|0):[\da-f]+)?\]$/.test(name)
  );
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
