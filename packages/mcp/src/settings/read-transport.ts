// How a server is reached: a program to start, or an address. Exactly one of the two.

import { isAbsolute } from "node:path";
import { isSecretName } from "@soong/core/internal";
import { isRecord, omitUndefined } from "@soong/schema";
import type { Place } from "@soong/platform";
import { holdsVariable, type Filler } from "./fill-variables.ts";
import { readOAuth } from "./read-oauth.ts";
import type { McpTransport } from "./server-entry.ts";
import {
  anyLine,
  lines,
  readValue,
  type GivenValue,
  type TransportInput,
} from "./transport-input.ts";

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** What no header may be set to by hand: the protocol sets them. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "content-type",
  "content-length",
  "host",
  "connection",
  "transfer-encoding",
  "mcp-session-id",
  "mcp-protocol-version",
  "last-event-id",
]);
const STDIO_LACKS = ["headers", "oauth"] as const;
const HTTP_LACKS = ["args", "env", "cwd"] as const;
const PLAIN_HEADERS: ReadonlySet<string> = new Set(["user-agent", "accept-language", "origin"]);

export function readTransport(input: TransportInput): McpTransport | undefined {
  const { given, place } = input;
  const kind = declaredKind(given.get("type"));
  if (kind === "refused") return undefined;
  const command = given.get("command");
  const url = given.get("url");
  if (command !== undefined && url !== undefined) {
    place.reportKey('Both "command" and "url" are here; a server has one of them.');
    return undefined;
  }
  if (command === undefined && url === undefined) {
    place.reportKey('"command" (a program to start) or "url" (an address) is missing.');
    return undefined;
  }
  const actual = command === undefined ? "http" : "stdio";
  if (kind !== undefined && kind !== actual) {
    const wanted = kind === "http" ? "url" : "command";
    given.get("type")?.place.report(`This type of server needs "${wanted}".`);
    return undefined;
  }
  for (const name of actual === "stdio" ? STDIO_LACKS : HTTP_LACKS) {
    const has = actual === "http" ? "url" : "command";
    given.get(name)?.place.report(`"${name}" means nothing for a server with "${has}".`);
  }
  if (command !== undefined) return readStdio(input, command);
  return url === undefined ? undefined : readHttp(input, url);
}

function declaredKind(given: GivenValue | undefined): "stdio" | "http" | "refused" | undefined {
  if (given === undefined) return undefined;
  switch (readValue(given, anyLine)?.toLowerCase()) {
    case undefined:
      return "refused";
    case "stdio":
      return "stdio";
    case "http":
    case "streamable-http":
    case "streamable_http":
    case "streamablehttp":
      return "http";
    case "sse":
      given.place.report(
        'The "sse" transport is not supported; it was replaced in 2025. Most servers offer "http" under another address.',
      );
      return "refused";
    default:
      given.place.report('The type must be "stdio" or "http".');
      return "refused";
  }
}

function readStdio(
  { given, filler }: TransportInput,
  written: GivenValue,
): McpTransport | undefined {
  const command = readValue(written, anyLine);
  const cwd = readCwd(given.get("cwd"));
  const args = given.has("args") ? readValue(given.get("args"), lines) : [];
  const pairs = readPairs(given.get("env"));
  if (command === undefined || args === undefined || pairs === undefined) return undefined;
  const isFolderNamed = command.includes("/") && !isAbsolute(command) && cwd === undefined;
  if (command.trim() === "" || isFolderNamed) {
    written.place.report(
      'The command must be a program\'s name or its absolute path; a relative one needs "cwd".',
    );
    return undefined;
  }
  for (const pair of pairs) {
    if (VARIABLE_NAME.test(pair.name)) warnOfLiteral(pair);
    else {
      pair.place.report(
        `"${pair.name}" cannot be the name of a variable: letters, digits and "_" only.`,
      );
    }
  }
  return {
    kind: "stdio",
    command,
    args: args.map((argument, index) => fillArgument(argument, args[index - 1], filler)),
    env: Object.fromEntries(pairs.map(({ name, value }) => [name, filler.fill(value, name)])),
    ...omitUndefined({ cwd }),
  };
}

/** A secret may follow its flag, or be part of it: `--token x`, `--token=x`. */
function fillArgument(argument: string, before: string | undefined, filler: Filler): string {
  const flag = /^--?([\w-]+)$/.exec(before ?? "")?.[1];
  const isValue = flag !== undefined && !argument.startsWith("-");
  const filled = filler.fill(argument, isValue ? flag : "");
  const [, name, value] = /^(?:--?)?([\w-]+)=(.+)$/s.exec(filled) ?? [];
  if (name !== undefined && value !== undefined && isSecretName(name)) filler.hide(value, name);
  return filled;
}

function readCwd(given: GivenValue | undefined): string | undefined {
  const cwd = readValue(given, anyLine);
  if (cwd === undefined || isAbsolute(cwd)) return cwd;
  given?.place.report("This must be an absolute path.");
  return undefined;
}

interface Pair {
  readonly name: string;
  readonly value: string;
  readonly place: Place;
}

/** Values may be numbers and booleans, too: users write ports without quotes. */
function readPairs(given: GivenValue | undefined): readonly Pair[] | undefined {
  if (given === undefined) return [];
  if (!isRecord(given.value)) {
    given.place.report("This must be an object of names and texts.");
    return undefined;
  }
  return Object.entries(given.value).flatMap(([name, inner]) => {
    const place = given.place.in(name);
    const isBare = typeof inner === "number" || typeof inner === "boolean";
    const value = readValue({ value: isBare ? String(inner) : inner, place }, anyLine);
    return value === undefined ? [] : [{ name, value, place }];
  });
}

function readHttp(input: TransportInput, address: GivenValue): McpTransport | undefined {
  const { given, filler } = input;
  const written = readValue(address, anyLine);
  const pairs = readPairs(given.get("headers"));
  if (written === undefined || pairs === undefined) return undefined;
  const url = filler.fill(written, "");
  const problem = urlProblem(url, holdsVariable(url));
  if (problem !== undefined) {
    address.place.report(problem);
    return undefined;
  }
  hideQuerySecrets(url, filler);
  const headers: [string, string][] = [];
  for (const pair of pairs) {
    const { name, value, place } = pair;
    const lower = name.toLowerCase();
    const isSecret = !PLAIN_HEADERS.has(lower);
    const filled = filler.fill(value, "");
    if (isSecret) hideHeader(filled, name, filler);
    if (!HEADER_NAME.test(name)) {
      place.report(`"${name}" cannot be the name of a header.`);
    } else if (OWN_HEADERS.has(lower)) {
      place.report(`"${name}" is set by the protocol and cannot be chosen.`);
    } else if (/[^\t\x20-\x7e\x80-\xff]/.test(filled)) {
      place.report("This holds a character that no header can carry.");
    } else if (headers.some(([other]) => other.toLowerCase() === lower)) {
      place.report(`The header "${name}" is here twice.`);
    }
    warnOfLiteral(pair);
    headers.push([name, filled]);
  }
  const oauth = readOAuth(input);
  return {
    kind: "http",
    url,
    headers: Object.fromEntries(headers),
    ...omitUndefined({ oauth }),
  };
}

function urlProblem(url: string, isIncomplete: boolean): string | undefined {
  // With a variable that is not set the server is not contacted anyway, and the message says so.
  if (isIncomplete) return undefined;
  if (!URL.canParse(url)) return 'This must be an address, such as "https://example.com/mcp".';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "The address must begin with https://.";
  if (username !== "" || password !== "") {
    return "The address must not contain a user or password; put them into headers.";
  }
  return hash === "" ? undefined : 'The address must not have a part after "#".';
}

/** Some servers want their key in the address. */
function hideQuerySecrets(url: string, filler: Filler): void {
  if (!URL.canParse(url)) return;
  for (const [name, value] of new URL(url).searchParams) {
    if (isSecretName(name)) filler.hide(value, name);
  }
}

/** Of "Bearer x" also the x alone: it appears without its scheme in errors and logs. */
function hideHeader(value: string, name: string, filler: Filler): void {
  filler.hide(value, name);
  const credentials = /^\S+\s+(\S.*)$/.exec(value)?.[1];
  if (credentials !== undefined) filler.hide(credentials, name);
}

function warnOfLiteral({ name, value, place }: Pair): void {
  if (!isSecretName(name) || value === "" || holdsVariable(value)) return;
  const variable = environmentName(name);
  place.warn(`This looks like a secret. Put it into the environment and write "\${${variable}}".`);
}

function environmentName(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}
