// What is kept of a login. The token belongs to one server at one address, and to the authorization server
// that issued it; the client it was issued to is kept with it.

import { isRecord } from "@soong/schema";

export interface StoredLogin {
  readonly version: 1;
  /** The only address the token is sent to. */
  readonly server_url: string;
  /** Where the server says who issues its tokens, if it named a place. */
  readonly resource_metadata_url?: string;
  /** Asked for at the last login. */
  readonly requested_scopes: readonly string[];
  /** Asked for by the server since: they need another login. */
  readonly wanted_scopes: readonly string[];
  /** For the next login. */
  readonly client?: StoredClient;
  readonly tokens?: StoredTokens;
}

export interface StoredClient {
  readonly issuer: string;
  readonly client_id: string;
  /** By us, with this issuer; else it is in the entry, and so is its secret. */
  readonly registered: boolean;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
  /** Milliseconds since 1970. */
  readonly secret_expires_at?: number;
  readonly redirect_uri: string;
}

export interface StoredTokens {
  readonly client: StoredClient;
  readonly access_token: string;
  readonly refresh_token?: string;
  /** As granted; the requested ones where the issuer did not say. */
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires_at?: number;
}

/** Undefined for what is not one. */
export function readStoredLogin(given: unknown): StoredLogin | undefined {
  return isLogin(given) ? given : undefined;
}

export function secretsOfLogin({ client, tokens }: StoredLogin): readonly string[] {
  const values = [
    tokens?.access_token,
    tokens?.refresh_token,
    tokens?.client.client_secret,
    client?.client_secret,
  ];
  return [...new Set(values.filter((value) => value !== undefined))];
}

function isLogin(value: unknown): value is StoredLogin {
  return (
    isRecord(value) &&
    value["version"] === 1 &&
    isText(value["server_url"]) &&
    isOptional(value["resource_metadata_url"], isText) &&
    isTexts(value["requested_scopes"]) &&
    isTexts(value["wanted_scopes"]) &&
    isOptional(value["client"], isClient) &&
    isOptional(value["tokens"], isTokens)
  );
}

function isClient(value: unknown): boolean {
  return (
    isRecord(value) &&
    ["issuer", "client_id", "redirect_uri"].every((key) => isText(value[key])) &&
    ["client_secret", "token_endpoint_auth_method"].every((key) =>
      isOptional(value[key], isText),
    ) &&
    typeof value["registered"] === "boolean" &&
    isOptional(value["secret_expires_at"], isNumber)
  );
}

function isTokens(value: unknown): boolean {
  return (
    isRecord(value) &&
    isClient(value["client"]) &&
    isText(value["access_token"]) &&
    isOptional(value["refresh_token"], isText) &&
    isTexts(value["scopes"]) &&
    isOptional(value["expires_at"], isNumber)
  );
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
