// Addresses that are no host of the internet: what answers there trusts any caller. A name counts by the address it leads to,
// and the connection goes to the very address that was checked, so that no second answer of the name server counts.

import { lookup, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

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

/** For one connection. Every address of the name has to be open: which of them is used is not ours to choose. */
export function lookUpOpen(
  refuse: (found: LookupAddress) => Error | undefined,
  resolve: typeof lookup = lookup,
): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new Error(`${name} has no address`), "", 0);
        return;
      }
      const refused = found.map(refuse).find((problem) => problem !== undefined);
      if (refused !== undefined) callback(refused, "", 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
