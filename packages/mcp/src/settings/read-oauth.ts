// What the user knows of a remote server's login: a client registered by hand, the scopes to ask for.

import { isRecord, nearestName, omitUndefined } from "@soong/schema";
import type { Place } from "@soong/platform";
import { holdsVariable } from "./fill-variables.ts";
import type { McpOAuthSettings } from "./server-entry.ts";
import {
  anyLine,
  lines,
  readValue,
  type GivenValue,
  type TransportInput,
} from "./transport-input.ts";

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
  const login = input.given.get("oauth");
  if (login === undefined) return undefined;
  if (!isRecord(login.value)) {
    login.place.report('This must be an object, such as {"client_id": "…"}.');
    return undefined;
  }
  const given = readKeys(login.value, login.place);
  const text = (name: OAuthKey): string | undefined => {
    const written = readValue(given.get(name), anyLine);
    return written === undefined ? undefined : input.filler.fill(written, name);
  };
  const client_id = text("client_id");
  const client_secret = text("client_secret");
  const scopes = readScopes(given.get("scopes"));
  const client_metadata_url = text("client_metadata_url");
  const redirect_uri = text("redirect_uri");
  checkAddresses({ client_metadata_url, redirect_uri }, given);
  warnOfSecret(given.get("client_secret"));
  if (client_secret !== undefined && client_id === undefined) {
    login.place.report('"client_secret" is nothing without "client_id".');
  }
  return {
    ...omitUndefined({ client_id, client_secret, client_metadata_url, scopes, redirect_uri }),
  };
}

function readKeys(
  written: Readonly<Record<string, unknown>>,
  login: Place,
): ReadonlyMap<OAuthKey, GivenValue> {
  const given = new Map<OAuthKey, GivenValue>();
  for (const [name, value] of Object.entries(written)) {
    const place = login.in(name);
    const meant = KEYS.find((known) => known === name) ?? SYNONYMS.get(name);
    if (meant !== undefined) {
      if (given.has(meant)) {
        place.reportKey(`"${name}" says the same as another key: "${meant}".`);
      }
      given.set(meant, { value, place });
    } else if (IGNORED.has(name)) {
      place.warnKey(`"${name}" has no effect here: the server says how to log in.`);
    } else {
      const nearest = nearestName(name, KEYS);
      const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
      place.reportKey(`"${name}" is not a setting of a login.${hint}`);
    }
  }
  return given;
}

function readScopes(given: GivenValue | undefined): readonly string[] | undefined {
  const scopes = typeof given?.value === "string" ? [given.value] : readValue(given, lines);
  const words = scopes?.flatMap((scope) => scope.split(" ")).filter((scope) => scope !== "");
  // Printable ASCII without quote and backslash: what a scope is made of.
  if (words?.every((word) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word)) === false) {
    given?.place.report("This holds a character no scope can have.");
    return undefined;
  }
  return words;
}

function checkAddresses(
  {
    client_metadata_url,
    redirect_uri,
  }: { client_metadata_url: string | undefined; redirect_uri: string | undefined },
  given: ReadonlyMap<OAuthKey, GivenValue>,
): void {
  const wrong = (name: OAuthKey, message: string) => given.get(name)?.place.report(message);
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

function warnOfSecret(given: GivenValue | undefined): void {
  const { value } = given ?? {};
  if (typeof value !== "string" || value === "" || holdsVariable(value)) return;
  given?.place.warn(
    'This is a secret. Put it into the environment and write "${CLIENT_SECRET}", say.',
  );
}
