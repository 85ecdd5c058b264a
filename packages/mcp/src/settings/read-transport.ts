// How a server is reached: a program to start, or an address. Exactly one of the two.

import { isAbsolute } from "node:path";
import type { Node } from "jsonc-parser";
import { isSecretName } from "@soong/core";
import { holdsVariable, type Filler } from "./fill-variables.ts";
import { readOAuth } from "./read-oauth.ts";
import type { McpTransport } from "./server-entry.ts";
import type { TransportInput } from "./transport-input.ts";

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
  const { given, offset, key, refuse } = input;
  const kind = declaredKind(input);
  if (kind === "refused") return undefined;
  const command = given.get("command");
  const url = given.get("url");
  if (command !== undefined && url !== undefined) {
    refuse({
      offset,
      key,
      message: 'Both "command" and "url" are here; a server has one of them.',
    });
    return undefined;
  }
  if (command === undefined && url === undefined) {
    const message = '"command" (a program to start) or "url" (an address) is missing.';
    refuse({ offset, key, message });
    return undefined;
  }
  const actual = command === undefined ? "http" : "stdio";
  if (kind !== undefined && kind !== actual) {
    const wanted = kind === "http" ? "url" : "command";
    refuse({ offset, key: `${key}.type`, message: `This type of server needs "${wanted}".` });
    return undefined;
  }
  const ofOther = actual === "stdio" ? STDIO_LACKS : HTTP_LACKS;
  const foreign = ofOther.filter((name) => given.has(name));
  for (const name of foreign) {
    const node = given.get(name);
    const message = `"${name}" means nothing for a server with "${actual === "http" ? "url" : "command"}".`;
    if (node !== undefined) refuse({ offset: node.offset, key: `${key}.${name}`, message });
  }
  if (command !== undefined) return readStdio(input, command);
  return url === undefined ? undefined : readHttp(input, url);
}

function declaredKind(input: TransportInput): "stdio" | "http" | "refused" | undefined {
  const node = input.given.get("type");
  if (node === undefined) return undefined;
  const type = input.read.text(node, `${input.key}.type`);
  const at = { offset: node.offset, key: `${input.key}.type` };
  switch (type?.toLowerCase()) {
    case undefined:
      return "refused";
    case "stdio":
      return "stdio";
    case "http":
    case "streamable-http":
    case "streamable_http":
    case "streamablehttp":
      return "http";
    case "sse": {
      const message =
        'The "sse" transport is not supported; it was replaced in 2025. Most servers offer "http" under another address.';
      input.refuse({ ...at, message });
      return "refused";
    }
    default:
      input.refuse({ ...at, message: 'The type must be "stdio" or "http".' });
      return "refused";
  }
}

function readStdio(input: TransportInput, node: Node): McpTransport | undefined {
  const { key, given, read, filler, refuse } = input;
  const command = read.text(node, `${key}.command`);
  const cwd = given.has("cwd") ? readCwd(input) : undefined;
  const argsNode = given.get("args");
  const args = argsNode === undefined ? [] : read.texts(argsNode, `${key}.args`);
  const envNode = given.get("env");
  const pairs = envNode === undefined ? [] : read.record(envNode, `${key}.env`);
  if (command === undefined || args === undefined || pairs === undefined) return undefined;
  const isFolderNamed = command.includes("/") && !isAbsolute(command) && cwd === undefined;
  if (command.trim() === "" || isFolderNamed) {
    const message =
      'The command must be a program\'s name or its absolute path; a relative one needs "cwd".';
    refuse({ offset: node.offset, key: `${key}.command`, message });
    return undefined;
  }
  for (const pair of pairs) {
    if (!VARIABLE_NAME.test(pair.name)) {
      const message = `"${pair.name}" cannot be the name of a variable: letters, digits and "_" only.`;
      refuse({ offset: pair.node.offset, key: `${key}.env.${pair.name}`, message });
    } else {
      warnOfLiteral(input, `env.${pair.name}`, pair);
    }
  }
  return {
    kind: "stdio",
    command,
    args: args.map((argument, index) => fillArgument(argument, args[index - 1], filler)),
    env: Object.fromEntries(pairs.map(({ name, value }) => [name, filler.fill(value, name)])),
    ...(cwd === undefined ? {} : { cwd }),
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

function readCwd({ key, given, read, refuse }: TransportInput): string | undefined {
  const node = given.get("cwd");
  const cwd = node === undefined ? undefined : read.text(node, `${key}.cwd`);
  if (node === undefined || cwd === undefined || isAbsolute(cwd)) return cwd;
  refuse({ offset: node.offset, key: `${key}.cwd`, message: "This must be an absolute path." });
  return undefined;
}

function readHttp(input: TransportInput, node: Node): McpTransport | undefined {
  const { key, given, read, filler, refuse } = input;
  const written = read.text(node, `${key}.url`);
  const headersNode = given.get("headers");
  const pairs = headersNode === undefined ? [] : read.record(headersNode, `${key}.headers`);
  if (written === undefined || pairs === undefined) return undefined;
  const url = filler.fill(written, "");
  const problem = urlProblem(url, holdsVariable(url));
  if (problem !== undefined) {
    refuse({ offset: node.offset, key: `${key}.url`, message: problem });
    return undefined;
  }
  hideQuerySecrets(url, filler);
  const headers: [string, string][] = [];
  for (const { name, value, node: valueNode } of pairs) {
    const at = { offset: valueNode.offset, key: `${key}.headers.${name}` };
    const lower = name.toLowerCase();
    const isSecret = !PLAIN_HEADERS.has(lower);
    const filled = filler.fill(value, "");
    if (isSecret) hideHeader(filled, name, filler);
    if (!HEADER_NAME.test(name)) {
      refuse({ ...at, message: `"${name}" cannot be the name of a header.` });
    } else if (OWN_HEADERS.has(lower)) {
      refuse({ ...at, message: `"${name}" is set by the protocol and cannot be chosen.` });
    } else if (/[^\t\x20-\x7e\x80-\xff]/.test(filled)) {
      refuse({ ...at, message: "This holds a character that no header can carry." });
    } else if (headers.some(([other]) => other.toLowerCase() === lower)) {
      refuse({ ...at, message: `The header "${name}" is here twice.` });
    }
    warnOfLiteral(input, `headers.${name}`, { name, value, node: valueNode });
    headers.push([name, filled]);
  }
  const oauth = readOAuth(input);
  return {
    kind: "http",
    url,
    headers: Object.fromEntries(headers),
    ...(oauth === undefined ? {} : { oauth }),
  };
}

function urlProblem(url: string, isIncomplete: boolean): string | undefined {
  // With a variable that is not set the server is not contacted anyway, and the message says so.
  if (isIncomplete) return undefined;
  if (!URL.canParse(url)) return 'This must be an address, such as "https://example.com/mcp".';
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "The address must begin with https://.";
  if (username !== "" || password !== "") {
    return "No user or password may stand in the address; put them into headers.";
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

function warnOfLiteral(
  { key, warn }: TransportInput,
  inner: string,
  { name, value, node }: { name: string; value: string; node: Node },
): void {
  if (!isSecretName(name) || value === "" || holdsVariable(value)) return;
  const message = `A secret seems to stand here. Put it into the environment and write "\${${environmentName(name)}}".`;
  warn({ offset: node.offset, key: `${key}.${inner}`, message });
}

function environmentName(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}
