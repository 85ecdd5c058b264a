// What the user knows of a remote server's login: a client registered by hand, the scopes to ask for.

import { isRecord, omitUndefined } from "@soong/schema";
import { holdsVariable, type Filler } from "./fill-variables.ts";
import {
  anyLine,
  lines,
  OAUTH,
  readKeys,
  readValue,
  type GivenValue,
  type OAuthKey,
} from "./read-keys.ts";
import type { McpOAuthSettings } from "./server-entry.ts";

export function readOAuth(
  { value, place }: GivenValue,
  filler: Filler,
): McpOAuthSettings | undefined {
  if (!isRecord(value)) {
    place.report('This must be an object, such as {"client_id": "…"}.');
    return undefined;
  }
  const given = readKeys(value, place, OAUTH);
  const read = (
    name: OAuthKey,
    problem?: string,
    isSound?: (url: URL) => boolean,
  ): string | undefined => {
    const written = readValue(given.get(name), anyLine);
    const text = written === undefined ? undefined : filler.fill(written, name);
    if (text === undefined || problem === undefined || holdsVariable(text)) return text;
    if (!URL.canParse(text) || isSound?.(new URL(text)) === false)
      given.get(name)?.place.report(problem);
    return text;
  };
  const client_id = read("client_id");
  const client_secret = read("client_secret");
  const scopes = readScopes(given.get("scopes"));
  const client_metadata_url = read(
    "client_metadata_url",
    "This must be an address with https:// and a path.",
    ({ protocol, pathname, username, hash }) =>
      protocol === "https:" && pathname !== "/" && username === "" && hash === "",
  );
  const redirect_uri = read(
    "redirect_uri",
    'This must be an address of this machine with a port, such as "http://127.0.0.1:8123/callback".',
    ({ protocol, hostname, port, search, hash }) =>
      protocol === "http:" &&
      ["127.0.0.1", "localhost", "[::1]"].includes(hostname) &&
      port !== "" &&
      search === "" &&
      hash === "",
  );
  const secret = given.get("client_secret");
  if (typeof secret?.value === "string" && secret.value !== "" && !holdsVariable(secret.value)) {
    secret.place.warn(
      'This is a secret. Put it into the environment and write "${CLIENT_SECRET}", say.',
    );
  }
  if (client_secret !== undefined && client_id === undefined) {
    place.report('"client_secret" is nothing without "client_id".');
  }
  return omitUndefined({ client_id, client_secret, client_metadata_url, scopes, redirect_uri });
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
