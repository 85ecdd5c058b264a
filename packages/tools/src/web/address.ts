// Which addresses may be fetched: http and https, without a login in them, on ports that speak HTTP. This machine and private
// networks are closed unless the user named the host: what answers there trusts any caller.

import { isIP } from "node:net";
import { isPrivateAddress } from "@soong/platform";

/** Why this address is not fetched, as a sentence; undefined when it may be. */
export function findUrlProblem(
  given: string,
  mayReachPrivate: (host: string) => boolean,
): string | undefined {
  if (!URL.canParse(given)) return 'This is not an address, such as "https://example.org/page".';
  const { protocol, username, password, hostname, port } = new URL(given);
  if (protocol !== "https:" && protocol !== "http:") {
    return "Only http and https addresses are fetched.";
  }
  if (username !== "" || password !== "") {
    return "The address has a user or password in it; such addresses are not fetched.";
  }
  if (isClosedPort(port)) return `Port ${port} is blocked for web requests.`;
  const address = hostname.replaceAll(/^\[|\]$/g, "");
  const isHere = isIP(address) === 0 ? LOCAL_NAME.test(hostname) : isPrivateAddress(address);
  return isHere && !mayReachPrivate(hostname) ? describePrivate(hostname) : undefined;
}

/** What the user may write to open it. */
export function describePrivate(host: string, address?: string): string {
  const what = address === undefined ? host : `${host} (${address})`;
  return [
    `${what} is this machine or in a private network; such a host is only fetched if a rule of the user names it, such as:`,
    "[[permissions.rules]]",
    'tool = "web.fetch"',
    `host = ${JSON.stringify(host)}`,
    'decision = "ask"',
  ].join("\n");
}

const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/;

/** The web has its own ports; below 1024 the others belong to other protocols, above them some do. */
function isClosedPort(port: string): boolean {
  if (port === "" || port === "80" || port === "443") return false;
  return Number(port) < 1024 || OTHER_PROTOCOLS.has(Number(port));
}

const OTHER_PROTOCOLS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080, 11211,
]);
