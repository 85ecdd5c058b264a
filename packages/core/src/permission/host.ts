// Hosts: out of a uri, and against patterns (PERM-10). A uri that two parsers could read differently
// has no host we would vouch for: it is unknown, and unknown fails closed.

/** The canonical host of a uri: lower case, no port, no trailing dot; undefined for anything odd. */
export function hostOf(uri: string): string | undefined {
  if (ODD_ANYWHERE.test(uri)) return undefined;
  const start = SCHEME.exec(uri)?.[0].length;
  if (start === undefined) return undefined;
  let end = start;
  while (end < uri.length && !"/?#".includes(uri.charAt(end))) end += 1;
  const authority = uri.slice(start, end);
  const portAt = authority.lastIndexOf(":");
  if (portAt === -1 || authority.endsWith("]")) return canonicalHost(authority);
  const host = authority.slice(0, portAt);
  if (!PORT.test(authority.slice(portAt + 1)) || (host.includes(":") && !host.startsWith("["))) {
    return undefined;
  }
  return canonicalHost(host);
}

/** One spelling for a host name or address; undefined when it is neither. */
export function canonicalHost(text: string): string | undefined {
  if (text.startsWith("[") && text.endsWith("]")) return canonicalIpv6(text.slice(1, -1));
  if (text.includes(":")) return canonicalIpv6(text);
  const host = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase();
  if (host.length > MAX_HOST_LENGTH) return undefined;
  const labels = host.split(".");
  if (!labels.every((label) => LABEL.test(label))) return undefined;
  // `2130706433`, `0x7f.1` and `127.1` are all 127.0.0.1 to a resolver: only the plain form is taken.
  if (NUMBER.test(labels.at(-1) ?? "") && ipv4Parts(host) === undefined) return undefined;
  return host;
}

/** `example.org`, `*.example.org` (below it, not itself, never an address), or `*` for any host. */
export function matchesHost(pattern: string, host: string): boolean {
  const canonical = canonicalHost(host);
  if (canonical === undefined) return false;
  if (pattern === "*") return true;
  if (!pattern.startsWith("*.")) return canonicalHost(pattern) === canonical;
  // The end of an address is no host of its own, so no address can match.
  const suffix = canonicalHost(pattern.slice(2));
  return suffix !== undefined && canonical.endsWith(`.${suffix}`);
}

/** Says what is wrong with a host pattern, in words that follow its name; undefined when nothing is. */
export function hostPatternProblem(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  if (pattern.includes("/")) return "is more than a host; leave out the scheme and the path";
  const name = pattern.startsWith("*.") ? pattern.slice(2) : pattern;
  if (name.includes("*")) return 'may have one "*" only, as its first label: "*.example.org"';
  const host = canonicalHost(name);
  if (host === undefined) return "is not a host name or address (no port, no user, ASCII only)";
  const isAddress = host.startsWith("[") || ipv4Parts(host) !== undefined;
  if (name !== pattern && isAddress) return "puts a wildcard before an address";
  return undefined;
}

const ODD_ANYWHERE = /[\0-\x20\\\x7f]/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;
const PORT = /^[0-9]{1,5}$/;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const IPV4_PART = /^(?:0|[1-9][0-9]{0,2})$/;
const IPV6_GROUP = /^[0-9A-Fa-f]{1,4}$/;
const MAX_HOST_LENGTH = 253;

function ipv4Parts(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const numbers = parts.map((part) => (IPV4_PART.test(part) ? Number(part) : 256));
  return numbers.every((number) => number < 256) ? numbers : undefined;
}

/** Eight groups, the longest run of zeros written `::`, as browsers and RFC 5952 write them. */
function canonicalIpv6(text: string): string | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = ipv6Groups(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? ipv6Groups(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return `[${compressGroups(groups)}]`;
}

function ipv6Groups(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (IPV6_GROUP.test(part)) groups.push(Number.parseInt(part, 16));
    else {
      const ipv4 = mayEndInIpv4 && index === parts.length - 1 ? ipv4Parts(part) : undefined;
      if (ipv4 === undefined) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = ipv4;
      groups.push(a * 256 + b, c * 256 + d);
    }
  }
  return groups;
}

function compressGroups(groups: readonly number[]): string {
  const text = groups.map((group) => group.toString(16)).join(":");
  const runs = [...text.matchAll(/\b0(?::0)+\b/g)];
  const [longest] = runs.toSorted((a, b) => b[0].length - a[0].length);
  if (longest === undefined) return text;
  const [before, after] = [
    text.slice(0, longest.index),
    text.slice(longest.index + longest[0].length),
  ];
  return `${before.replace(/:$/, "")}::${after.replace(/^:/, "")}`;
}
