// Tokens, as an authorization server hands them out: for a code, or for a refresh token. What it answers is
// held to what a token must be before it is kept.

import {
  exchangeAuthorization,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  type FetchLike,
  type OAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpOAuthSettings } from "../settings/index.ts";
import { withSecret } from "./choose-client.ts";
import type { Issuer } from "./find-issuer.ts";
import { McpLoginFailure } from "./login-failure.ts";
import { serverLine } from "./server-line.ts";
import type { StoredClient, StoredTokens } from "./stored-login.ts";

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

/** Rejects with an McpLoginFailure. */
export async function tokensForCode(
  question: TokenQuestion,
  answer: { code: string; iss: string | undefined; codeVerifier: string },
): Promise<StoredTokens> {
  const { issuer, client, settings, fetch } = question;
  const { code, iss, codeVerifier } = answer;
  return readTokens(question, [code, codeVerifier], () =>
    exchangeAuthorization(issuer.issuer, {
      metadata: issuer.metadata,
      clientInformation: withSecret(client, settings),
      authorizationCode: code,
      iss,
      codeVerifier,
      redirectUri: client.redirect_uri,
      resource: issuer.resource,
      fetchFn: fetch,
    }),
  );
}

/** Rejects with an McpLoginFailure: `refused` when the login is over. */
export async function tokensForRefresh(
  question: TokenQuestion,
  refreshToken: string,
): Promise<StoredTokens> {
  const { issuer, client, settings, fetch } = question;
  return readTokens(question, [refreshToken], () =>
    refreshAuthorization(issuer.issuer, {
      metadata: issuer.metadata,
      clientInformation: withSecret(client, settings),
      refreshToken,
      resource: issuer.resource,
      fetchFn: fetch,
    }),
  );
}

async function readTokens(
  { client, settings, scopes, now }: TokenQuestion,
  secrets: readonly string[],
  ask: () => Promise<OAuthTokens>,
): Promise<StoredTokens> {
  let given: OAuthTokens;
  try {
    given = await ask();
  } catch (error) {
    throw tokenFailure(error, [...secrets, withSecret(client, settings).client_secret ?? ""]);
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
    scopes: scope === undefined ? scopes : scopesOf(scope),
    ...(isLimited ? { expires_at: now + Math.max(0, expires_in) * 1000 } : {}),
  };
}

export function scopesOf(scope: string): string[] {
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
