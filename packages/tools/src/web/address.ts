// Which addresses may be fetched: http and https, without a login in them, on ports that speak HTTP. This machine and private
// networks are closed unless the user named the host: what answers there trusts any caller.

import { BlockList, isIP } from "node:net";

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

const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  PRIVATE.addSubnet(network, bits, "ipv6");
}

/** Loopback, private, link-local with the addresses of cloud metadata, and everything else that is not a host of the internet. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return PRIVATE.check(address, "ipv4");
  if (family !== 6) return true;
  const [plain = ""] = address.split("%");
  const inside = embeddedIpv4(plain);
  return inside === undefined ? PRIVATE.check(plain, "ipv6") : PRIVATE.check(inside, "ipv4");
}

/** `::ffff:10.0.0.1` and `64:ff9b::10.0.0.1` are ways to reach 10.0.0.1. */
function embeddedIpv4(address: string): string | undefined {
  const [, , tail] =
    /^\[(::ffff:|64:ff9b::)([^\]]*)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (tail === undefined) return undefined;
  const [low = 0, high = 0] = tail
    .split(":")
    .map((group) => Number.parseInt(group, 16))
    .toReversed();
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
