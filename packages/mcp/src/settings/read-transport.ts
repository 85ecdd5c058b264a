// How a server is reached: a program to start, or an address. Exactly one of the two.

import { isAbsolute } from "node:path";
import { isSecretName } from "@soong/core/internal";
import { entrySandbox, readEntrySandbox, type Place } from "@soong/platform";
import { isRecord, omitUndefined } from "@soong/schema";
import { holdsVariable, type Filler } from "./fill-variables.ts";
import { anyLine, lines, readValue, type EntryKey, type GivenValue } from "./read-keys.ts";
import { readOAuth } from "./read-oauth.ts";
import type { McpTransport } from "./server-entry.ts";

type Given = ReadonlyMap<EntryKey, GivenValue>;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** What no header may be set to by hand: the protocol sets them. */
const OWN_HEADERS =
  /^(?:accept|content-type|content-length|host|connection|transfer-encoding|mcp-session-id|mcp-protocol-version|last-event-id)$/i;
const PLAIN_HEADERS = /^(?:user-agent|accept-language|origin)$/i;

const KINDS: Readonly<Record<string, McpTransport["kind"]>> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamable_http: "http",
  streamablehttp: "http",
};

/** What is needed for each, and what means nothing there. */
const NEEDS = { stdio: "command", http: "url" } as const;
const LACKS = { stdio: ["headers", "oauth"], http: ["args", "env", "cwd", "sandbox"] } as const;

/** `place` is that of the entry as a whole. */
export function readTransport(
  given: Given,
  place: Place,
  filler: Filler,
): McpTransport | undefined {
  const type = given.get("type");
  const declared = type && readKind(type);
  if (type !== undefined && declared === undefined) return undefined;
  const command = given.get("command");
  const url = given.get("url");
  if (command !== undefined && url !== undefined) {
    place.reportKey('Both "command" and "url" are here; a server has one of them.');
    return undefined;
  }
  const needed = command ?? url;
  if (needed === undefined) {
    place.reportKey('"command" (a program to start) or "url" (an address) is missing.');
    return undefined;
  }
  const kind = command === undefined ? "http" : "stdio";
  if (declared !== undefined && declared !== kind) {
    type?.place.report(`This type of server needs "${NEEDS[declared]}".`);
    return undefined;
  }
  for (const name of LACKS[kind]) {
    given.get(name)?.place.report(`"${name}" means nothing for a server with "${NEEDS[kind]}".`);
  }
  return kind === "stdio" ? readStdio(given, needed, filler) : readHttp(given, needed, filler);
}

function readKind(given: GivenValue): McpTransport["kind"] | undefined {
  const type = readValue(given, anyLine)?.toLowerCase();
  if (type === undefined) return undefined;
  if (Object.hasOwn(KINDS, type)) return KINDS[type];
  given.place.report(
    type === "sse"
      ? 'The "sse" transport is not supported; it was replaced in 2025. Most servers offer "http" under another address.'
      : 'The type must be "stdio" or "http".',
  );
  return undefined;
}

function readStdio(given: Given, written: GivenValue, filler: Filler): McpTransport | undefined {
  const command = readValue(written, anyLine);
  const cwd = readCwd(given.get("cwd"));
  const args = given.has("args") ? readValue(given.get("args"), lines) : [];
  const pairs = readPairs(given.get("env"));
  const sandbox = readEntrySandbox(readValue(given.get("sandbox"), entrySandbox));
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
    ...omitUndefined({ cwd, sandbox }),
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

function readHttp(given: Given, address: GivenValue, filler: Filler): McpTransport | undefined {
  const written = readValue(address, anyLine);
  const pairs = readPairs(given.get("headers"));
  if (written === undefined || pairs === undefined) return undefined;
  const url = filler.fill(written, "");
  const problem = urlProblem(url);
  if (problem !== undefined) {
    address.place.report(problem);
    return undefined;
  }
  // Some servers want their key in the address.
  for (const [name, value] of URL.canParse(url) ? new URL(url).searchParams : []) {
    if (isSecretName(name)) filler.hide(value, name);
  }
  const headers = new Map<string, string>();
  for (const pair of pairs) {
    const { name, value, place } = pair;
    const filled = filler.fill(value, "");
    if (!PLAIN_HEADERS.test(name)) hideHeader(filled, name, filler);
    const isTaken = [...headers.keys()].some((one) => one.toLowerCase() === name.toLowerCase());
    const wrong = headerProblem(name, filled, isTaken);
    if (wrong !== undefined) place.report(wrong);
    warnOfLiteral(pair);
    headers.set(name, filled);
  }
  const login = given.get("oauth");
  const oauth = login && readOAuth(login, filler);
  return { kind: "http", url, headers: Object.fromEntries(headers), ...omitUndefined({ oauth }) };
}

function headerProblem(name: string, value: string, isTaken: boolean): string | undefined {
  if (!HEADER_NAME.test(name)) return `"${name}" cannot be the name of a header.`;
  if (OWN_HEADERS.test(name)) return `"${name}" is set by the protocol and cannot be chosen.`;
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
    return "This holds a character that no header can carry.";
  }
  return isTaken ? `The header "${name}" is here twice.` : undefined;
}

function urlProblem(url: string): string | undefined {
  // With a variable that is not set the server is not contacted anyway, and the message says so.
  if (holdsVariable(url)) return undefined;
  if (!URL.canParse(url)) return 'This must be an address, such as "https://example.com/mcp".';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "The address must begin with https://.";
  if (username !== "" || password !== "") {
    return "The address must not contain a user or password; put them into headers.";
  }
  return hash === "" ? undefined : 'The address must not have a part after "#".';
}

/** Of "Bearer x" also the x alone: it appears without its scheme in errors and logs. */
function hideHeader(value: string, name: string, filler: Filler): void {
  filler.hide(value, name);
  const credentials = /^\S+\s+(\S.*)$/.exec(value)?.[1];
  if (credentials !== undefined) filler.hide(credentials, name);
}

function warnOfLiteral({ name, value, place }: Pair): void {
  if (!isSecretName(name) || value === "" || holdsVariable(value)) return;
  const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
  place.warn(`This looks like a secret. Put it into the environment and write "\${${variable}}".`);
}
