// Who may ask (UI-1): a page of our own, under one of our own host names, with the token. Looked at before anything else
// of a request. A name that merely resolves to this machine is not ours (DNS rebinding).

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { InspectorError } from "./ports.ts";

const HOSTS: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** Says why a request is none of ours; undefined when it is. */
export function createGuard(token: string, port: () => number) {
  const expected = digest(token);

  return (request: IncomingMessage, isForRecords: boolean): InspectorError | undefined => {
    const { host, origin, authorization, "sec-fetch-site": site } = request.headers;
    const hosts = HOSTS.flatMap((name) => listHosts(name, port()));
    if (host === undefined || !hosts.includes(host.toLowerCase())) {
      return createForbidden("This inspector answers under 127.0.0.1 and localhost only.");
    }
    if (origin !== undefined && !hosts.some((one) => origin.toLowerCase() === `http://${one}`)) {
      return createForbidden("Another page may not ask this inspector.");
    }
    const isOurs = site === undefined || site === "same-origin" || site === "none";
    if (!isOurs && (isForRecords || !isVisit(request))) {
      return createForbidden("Another page may not ask this inspector; open its address itself.");
    }
    if (!isForRecords || isToken(authorization)) return undefined;
    return new InspectorError(
      "unauthorized",
      "The token is missing or is not that of this inspector; open the whole address that `soong inspect` prints.",
    );
  };

  function isToken(authorization: string | undefined): boolean {
    const given = /^Bearer +([^\s]+)$/iu.exec(authorization ?? "")?.[1];
    // Digests have one length, for any input.
    return given !== undefined && timingSafeEqual(digest(given), expected);
  }
}

function createForbidden(message: string): InspectorError {
  return new InspectorError("forbidden", message);
}

/**
 * The user who follows a link, such as the printed address in a terminal that is itself a page. What is shown then is a
 * window of its own, without a token unless the address has it.
 */
function isVisit({ method, url, headers }: IncomingMessage): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": target } = headers;
  return method === "GET" && url === "/" && mode === "navigate" && target === "document";
}

/** A browser omits the port that is usual. */
function listHosts(name: string, port: number): string[] {
  return port === 80 ? [name, `${name}:80`] : [`${name}:${port}`];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
