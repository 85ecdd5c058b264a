// What the user knows of a remote server's login: a client registered by hand, the scopes to ask for.

import { nearestName } from "@soong/core";
import type { Node } from "jsonc-parser";
import { holdsVariable } from "./fill-variables.ts";
import { membersOf } from "./json-document.ts";
import type { McpOAuthSettings } from "./server-entry.ts";
import type { TransportInput } from "./transport-input.ts";

const KEYS = [
  "client_id",
  "client_secret",
  "client_metadata_url",
  "scopes",
  "redirect_uri",
] as const;
type OAuthKey = (typeof KEYS)[number];

const SYNONYMS: ReadonlyMap<string, OAuthKey> = new Map([
  ["clientId", "client_id"],
  ["clientSecret", "client_secret"],
  ["redirectUri", "redirect_uri"],
]);
/** Other hosts let the login be described; here it is found out from the server itself. */
const IGNORED: ReadonlySet<string> = new Set([
  "enabled",
  "issuer",
  "audiences",
  "authorizationUrl",
  "tokenUrl",
  "registrationUrl",
  "tokenParamName",
  "callbackPort",
]);

export function readOAuth(input: TransportInput): McpOAuthSettings | undefined {
  const node = input.given.get("oauth");
  if (node === undefined) return undefined;
  const key = `${input.key}.oauth`;
  if (node.type !== "object") {
    const message = 'This must be an object, such as {"client_id": "…"}.';
    input.refuse({ offset: node.offset, key, message });
    return undefined;
  }
  const given = keysOf(node, key, input);
  const text = (name: OAuthKey): string | undefined => {
    const value = given.get(name);
    const written = value === undefined ? undefined : input.read.text(value, `${key}.${name}`);
    return written === undefined ? undefined : input.filler.fill(written, name);
  };
  const client_id = text("client_id");
  const client_secret = text("client_secret");
  const scopesNode = given.get("scopes");
  const scopes = scopesNode === undefined ? undefined : readScopes(scopesNode, key, input);
  const client_metadata_url = text("client_metadata_url");
  const redirect_uri = text("redirect_uri");
  checkAddresses({ client_metadata_url, redirect_uri }, given, key, input);
  warnOfSecret(given.get("client_secret"), key, input);
  if (client_secret !== undefined && client_id === undefined) {
    input.refuse({
      offset: node.offset,
      key,
      message: '"client_secret" is nothing without "client_id".',
    });
  }
  return {
    ...(client_id === undefined ? {} : { client_id }),
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(client_metadata_url === undefined ? {} : { client_metadata_url }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(redirect_uri === undefined ? {} : { redirect_uri }),
  };
}

function keysOf(node: Node, key: string, { refuse, warn }: TransportInput): Map<OAuthKey, Node> {
  const given = new Map<OAuthKey, Node>();
  for (const { name, keyOffset, value } of membersOf(node)) {
    const at = { offset: keyOffset, key: `${key}.${name}` };
    const meant = KEYS.find((known) => known === name) ?? SYNONYMS.get(name);
    if (meant !== undefined) {
      if (given.has(meant)) {
        refuse({ ...at, message: `"${name}" says the same as another key: "${meant}".` });
      }
      given.set(meant, value);
    } else if (IGNORED.has(name)) {
      warn({ ...at, message: `"${name}" has no effect here: the server says how to log in.` });
    } else {
      const nearest = nearestName(name, KEYS);
      const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
      const message = `"${name}" is not a setting of a login.${hint}`;
      refuse({ ...at, message, ...(nearest === undefined ? {} : { nearest }) });
    }
  }
  return given;
}

function readScopes(
  node: Node,
  key: string,
  { read, refuse }: TransportInput,
): readonly string[] | undefined {
  const at = `${key}.scopes`;
  const scopes = node.type === "string" ? [String(node.value)] : read.texts(node, at);
  const words = scopes?.flatMap((scope) => scope.split(" ")).filter((scope) => scope !== "");
  // Printable ASCII without quote and backslash: what a scope is made of.
  if (words?.every((word) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word)) === false) {
    refuse({ offset: node.offset, key: at, message: "This holds a character no scope can have." });
    return undefined;
  }
  return words;
}

function checkAddresses(
  {
    client_metadata_url,
    redirect_uri,
  }: { client_metadata_url: string | undefined; redirect_uri: string | undefined },
  given: ReadonlyMap<OAuthKey, Node>,
  key: string,
  { refuse }: TransportInput,
): void {
  const wrong = (name: OAuthKey, message: string) =>
    refuse({ offset: given.get(name)?.offset ?? 0, key: `${key}.${name}`, message });
  if (client_metadata_url !== undefined && !isMetadataUrl(client_metadata_url)) {
    wrong("client_metadata_url", "This must be an address with https:// and a path.");
  }
  if (redirect_uri !== undefined && !isLoopbackUri(redirect_uri)) {
    const message =
      'This must be an address of this machine with a port, such as "http://127.0.0.1:8123/callback".';
    wrong("redirect_uri", message);
  }
}

function isMetadataUrl(text: string): boolean {
  if (holdsVariable(text)) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, username, hash } = new URL(text);
  return protocol === "https:" && pathname !== "/" && username === "" && hash === "";
}

function isLoopbackUri(text: string): boolean {
  if (holdsVariable(text)) return true;
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, search, hash } = new URL(text);
  const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  return protocol === "http:" && isHere && port !== "" && search === "" && hash === "";
}

function warnOfSecret(node: Node | undefined, key: string, { warn }: TransportInput): void {
  const value: unknown = node?.value;
  if (node === undefined || typeof value !== "string" || value === "" || holdsVariable(value)) {
    return;
  }
  const message =
    'A secret stands here. Put it into the environment and write "${CLIENT_SECRET}", say.';
  warn({ offset: node.offset, key: `${key}.client_secret`, message });
}
