// The address of this machine the user's browser comes back to after the login. It answers one path, takes one
// answer that knows the secret of this login, and shows nothing of what it was sent.

import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpLoginFailure } from "./login-failure.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";

/** `wanted` must be had; `preferred` is given up when someone else listens there. */
export async function openRedirectListener(
  wanted: string | undefined,
  preferred: string | undefined,
) {
  if (wanted !== undefined) {
    return listenAt(new URL(wanted)).catch((error: NodeJS.ErrnoException) => {
      const message = `the address ${wanted} ("redirect_uri") cannot be had (${error.code ?? ""})`;
      throw new McpLoginFailure("unreachable", message);
    });
  }
  if (preferred !== undefined) {
    try {
      return await listenAt(new URL(preferred));
    } catch {
      // Another port does as well.
    }
  }
  return listenAt(new URL(`http://${HOST}:0${PATH}`));
}

async function listenAt(address: URL) {
  let onAnswer: ((parameters: URLSearchParams) => boolean) | undefined;
  const server = createServer((request, response) => {
    const parameters = readParameters(request, redirectUri);
    if (parameters === undefined) return page(response, 404, "There is nothing here.");
    return onAnswer?.(parameters) === true
      ? page(response, 200, "That was it. You can close this window.")
      : page(response, 400, "This does not belong to the login that is waiting.");
  });
  server.listen(Number(address.port), address.hostname.replace(/^\[|\]$/g, ""));
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const redirectUri = `http://${address.hostname}:${port}${address.pathname}`;

  return {
    redirectUri,
    /** The parameters of the answer. Settles once; rejects when the signal fires. */
    answer: (state: string, signal: AbortSignal) =>
      new Promise<URLSearchParams>((resolve, reject) => {
        const onAbort = () => reject(signal.reason as Error);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
        onAnswer = (parameters) => {
          if (!isSame(parameters.get("state") ?? "", state)) return false;
          onAnswer = undefined;
          signal.removeEventListener("abort", onAbort);
          resolve(parameters);
          return true;
        };
      }),
    close(): void {
      server.close();
      server.closeIdleConnections();
      // The page may still be on its way.
      setTimeout(() => server.closeAllConnections(), 1000).unref();
    },
  };
}

/** Only what a browser sends that was redirected here, not what a page elsewhere makes it send. */
function readParameters(
  { method, url = "", headers }: IncomingMessage,
  redirectUri: string,
): URLSearchParams | undefined {
  const { host, pathname } = new URL(redirectUri);
  if (method !== "GET" || headers.host !== host || !URL.canParse(url, redirectUri))
    return undefined;
  const given = new URL(url, redirectUri);
  return given.host === host && given.pathname === pathname ? given.searchParams : undefined;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function page(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(`<!doctype html><title>Soong</title><p>${text}</p>`);
}
