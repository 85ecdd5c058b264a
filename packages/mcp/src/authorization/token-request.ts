// Who we are to an authorization server, and the tokens it hands out: for a code, or for a refresh token. What it
// answers is held to what a token must be before it is kept.

import {
  exchangeAuthorization,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  registerClient,
  RegistrationRejectedError,
  type FetchLike,
  type OAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpOAuthSettings } from "../settings/index.ts";
import type { Issuer } from "./find-issuer.ts";
import { McpLoginFailure, serverLine } from "./login-failure.ts";
import type { StoredClient, StoredTokens } from "./logins.ts";

export interface TokenQuestion {
  readonly issuer: Issuer;
  readonly client: StoredClient;
  /** As the entry has them now. */
  readonly settings: McpOAuthSettings;
  /** Asked for; granted unless the answer says otherwise. */
  readonly scopes: readonly string[];
  readonly fetch: FetchLike;
  readonly now: number;
}

const LONGEST_TOKEN = 64 * 1024;
const SERVER_ERROR: string = OAuthErrorCode.ServerError;

/** Rejects with an McpLoginFailure: `refused` when a login is over. */
export async function requestTokens(
  { issuer, client, settings, scopes, fetch, now }: TokenQuestion,
  grant: { code: string; iss: string | undefined; codeVerifier: string } | { refreshToken: string },
): Promise<StoredTokens> {
  const clientInformation = withSecret(client, settings);
  const { metadata, resource } = issuer;
  const common = { metadata, clientInformation, resource, fetchFn: fetch };
  let given: OAuthTokens;
  try {
    given = await ("code" in grant
      ? exchangeAuthorization(issuer.issuer, {
          ...common,
          authorizationCode: grant.code,
          iss: grant.iss,
          codeVerifier: grant.codeVerifier,
          redirectUri: client.redirect_uri,
        })
      : refreshAuthorization(issuer.issuer, { ...common, refreshToken: grant.refreshToken }));
  } catch (error) {
    const sent = "code" in grant ? [grant.code, grant.codeVerifier] : [grant.refreshToken];
    throw tokenFailure(error, [...sent, clientInformation.client_secret ?? ""]);
  }
  const { access_token, refresh_token, token_type, expires_in, scope } = given;
  const isToken = /^[\x21-\x7e]+$/.test(access_token) && access_token.length <= LONGEST_TOKEN;
  if (!isToken || token_type.toLowerCase() !== "bearer") {
    const message = "its authorization server issued something that is not a bearer token";
    throw new McpLoginFailure("invalid_answer", message);
  }
  const isLimited = expires_in !== undefined && Number.isFinite(expires_in);
  return {
    client,
    access_token,
    refresh_token,
    scopes: scope === undefined ? scopes : splitScopes(scope),
    ...(isLimited && { expires_at: now + Math.max(0, expires_in) * 1000 }),
  };
}

export function splitScopes(scope: string): string[] {
  return [...new Set(scope.split(/\s+/).filter((word) => word !== ""))];
}

function tokenFailure(error: unknown, secrets: readonly string[]): McpLoginFailure {
  if (error instanceof McpLoginFailure) return error;
  if (error instanceof IssuerMismatchError) {
    const message = "the answer to the login came from another authorization server";
    return new McpLoginFailure("insecure", message);
  }
  // An answer that is no error of OAuth is one of the machine behind it: it may be well again later.
  if (error instanceof OAuthError && error.code !== SERVER_ERROR) {
    const said = serverLine(`${error.code}: ${error.message}`, secrets, 200);
    return new McpLoginFailure("refused", `its authorization server refused (${said})`);
  }
  const message = "its authorization server answered with something that is not a token";
  return new McpLoginFailure("invalid_answer", message);
}

interface ClientQuestion extends Omit<TokenQuestion, "client" | "scopes"> {
  readonly known: StoredClient | undefined;
  readonly redirectUri: string;
  readonly scope: string | undefined;
}

const METHODS = ["none", "client_secret_basic", "client_secret_post"];

/**
 * A client registered by hand, the one from the last time, an address that describes us, or one registered now. A client
 * of one issuer is never shown to another. Rejects with an McpLoginFailure.
 */
export async function chooseClient(question: ClientQuestion): Promise<StoredClient> {
  const { issuer, settings, known, redirectUri: redirect_uri } = question;
  const about = { issuer: issuer.issuer, redirect_uri };
  if (settings.client_id !== undefined) {
    return { ...about, client_id: settings.client_id, registered: false };
  }
  const isUrlTaken = issuer.metadata.client_id_metadata_document_supported === true;
  if (isUrlTaken && settings.client_metadata_url !== undefined) {
    return {
      ...about,
      client_id: settings.client_metadata_url,
      registered: false,
      token_endpoint_auth_method: "none",
    };
  }
  if (known !== undefined && isUsable(known, question)) return known;
  return { ...about, registered: true, ...(await register(question)) };
}

/** For a request: what is in the entry is not kept elsewhere. */
export function withSecret(client: StoredClient, settings: McpOAuthSettings): StoredClient {
  const { client_id, client_secret } = settings;
  const isOurs = !client.registered && client.client_id === client_id;
  return isOurs && client_secret !== undefined ? { ...client, client_secret } : client;
}

function isUsable(known: StoredClient, { issuer, redirectUri, now }: ClientQuestion): boolean {
  const { secret_expires_at = Number.POSITIVE_INFINITY } = known;
  return (
    known.issuer === issuer.issuer &&
    known.redirect_uri === redirectUri &&
    known.registered &&
    secret_expires_at > now
  );
}

async function register({ issuer, redirectUri, scope, fetch }: ClientQuestion) {
  const { metadata } = issuer;
  if (metadata.registration_endpoint === undefined) {
    const message =
      'its authorization server offers no automatic registration: register a client there and write its id into "oauth" of the entry ("client_id", and "client_secret" if there is one)';
    throw new McpLoginFailure("not_offered", message);
  }
  const offered = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const method = METHODS.find((one) => offered.includes(one)) ?? "none";
  try {
    // Most authorization servers know nothing else yet.
    // oxlint-disable-next-line typescript/no-deprecated
    const made = await registerClient(issuer.issuer, {
      metadata,
      clientMetadata: {
        client_name: "Soong",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method,
        application_type: "native",
      },
      scope,
      fetchFn: fetch,
    });
    const expires = made.client_secret_expires_at ?? 0;
    return {
      client_id: made.client_id,
      client_secret: made.client_secret,
      token_endpoint_auth_method: made.token_endpoint_auth_method ?? method,
      ...(expires > 0 && { secret_expires_at: expires * 1000 }),
    };
  } catch (error) {
    if (error instanceof McpLoginFailure) throw error;
    const isAnswer = error instanceof RegistrationRejectedError || error instanceof OAuthError;
    const said = isAnswer ? `: ${serverLine(error.message, [], 200)}` : "";
    throw new McpLoginFailure("refused", `its authorization server did not register us${said}`);
  }
}
