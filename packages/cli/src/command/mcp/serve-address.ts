// Where `soong mcp serve --http` listens, and under which names it may be called: loopback, unless someone says
// otherwise, and never under a name that merely leads here (DNS rebinding).

import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";

export interface ServeAddress {
  readonly port: number;
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Other machines may come in. */
  readonly isOpen: boolean;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE = new Set(["0.0.0.0", "::"]);
const MAX_PORT = 65_535;

/** Undefined: stdio. */
export function parseServeAddress(options: {
  readonly http?: string;
  readonly host?: string;
  readonly tokenFile?: string;
}): ServeAddress | undefined {
  const { http, host = "127.0.0.1", tokenFile } = options;
  if (http === undefined) {
    const misplaced = options.host === undefined ? tokenFile && "--token-file" : "--host";
    if (misplaced === undefined || misplaced === "") return undefined;
    throw new UsageError(`${misplaced} is for --http PORT; over stdio there is no address.`);
  }
  const port = /^\d{1,5}$/.test(http) ? Number(http) : Number.NaN;
  if (!(port <= MAX_PORT)) {
    throw new UsageError(
      `--http takes a port from 0 (any free one) to ${MAX_PORT}, not ${visibleLine(http)}.`,
    );
  }
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const allowedHosts = [...new Set([...LOOPBACK, ...listLocalNames(bare)])];
  return {
    port,
    host: bare,
    allowedHosts,
    allowedOrigins: allowedHosts,
    isOpen: bare !== "localhost" && bare !== "::1" && !bare.startsWith("127."),
  };
}

/** Throws what the system refused, in a sentence. */
export function refuseAddress(error: unknown, { host, port }: ServeAddress): never {
  const { code = "" } = error as NodeJS.ErrnoException;
  const why = REFUSALS.get(code);
  if (why === undefined) throw error;
  throw new CommandError(`${visibleLine(host)}, port ${port}, ${why}`);
}

const NOT_HERE = "is not an address of this machine; without --host it is 127.0.0.1.";

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is taken: something listens there. Choose another port, or 0 for any free one."],
  ["EACCES", "is not for this user; ports from 1024 on are for everyone."],
  ["EADDRNOTAVAIL", NOT_HERE],
  ["ENOTFOUND", NOT_HERE],
  ["EAI_AGAIN", NOT_HERE],
  ["EINVAL", NOT_HERE],
]);

/** As a `Host` header writes them. */
function listLocalNames(host: string): string[] {
  if (!EVERYWHERE.has(host)) return [asName(host)];
  const addresses = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return [hostname(), ...addresses.map(({ address }) => asName(address))];
}

function asName(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host.toLowerCase();
}
