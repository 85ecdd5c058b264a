// The token of one server while it is used: sent with every request, renewed when it is over, and given up when
// it cannot be renewed (MCP-8). A refresh token is good for one use, so the one that renews has the file for itself,
// and looks first whether another process has renewed already.

import { extractWWWAuthenticateParams, type AuthProvider } from "@modelcontextprotocol/client";
import type { Clock } from "@soong/core";
import type { McpOAuthSettings, McpSecret } from "../settings/index.ts";
import { findIssuer } from "./find-issuer.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { McpLoginFailure, serverLine } from "./login-failure.ts";
import {
  secretsOfLogin,
  type McpLogins,
  type SaveLogin,
  type StoredLogin,
  type StoredTokens,
} from "./logins.ts";
import { requestTokens, splitScopes } from "./token-request.ts";

export interface AccessTokens extends Required<AuthProvider> {
  /** Notes which token an answer was given to; to be called with every answer. */
  noteAnswer(response: Response, authorization: string | null): Promise<void>;
  /** Why the server did not do what it was asked last, in words for users that begin with "it". */
  readonly refusal: Refusal | undefined;
  /** Everything that must not be shown. */
  readonly secrets: readonly string[];
}

export interface Refusal {
  readonly message: string;
  /** Nothing can be asked of the server before someone logs in; else it is about one request. */
  readonly isOver: boolean;
}

/** Renewed so long before its end that it does not end on its way. */
const MARGIN_MS = 30_000;
/** For all requests a renewal takes. Less than a lock may be held. */
const REFRESH_MS = 60_000;
const MAX_SCOPES = 100;

export function createAccessTokens(parts: {
  readonly server_id: string;
  readonly serverUrl: string;
  readonly settings: McpOAuthSettings;
  readonly logins: McpLogins;
  readonly clock: Clock;
  readonly onSecret: ((secret: McpSecret) => void) | undefined;
}): AccessTokens {
  const { server_id, serverUrl, settings, logins, clock } = parts;
  const secrets = new Set<string>();
  const sentWith = new WeakMap<Response, string | undefined>();
  let known: StoredLogin | undefined;
  let refusal: Refusal | undefined;
  /** Renewing it early did not work out; it is tried again when the server refuses it. */
  let renewedInVain: string | undefined;

  return {
    get refusal() {
      return refusal;
    },
    get secrets() {
      return [...secrets].toSorted((a, b) => b.length - a.length);
    },
    async token() {
      if (known === undefined) learn(await logins.read(server_id));
      const tokens = known?.tokens;
      if (tokens === undefined || !isEnding(tokens)) return tokens?.access_token;
      if (tokens.access_token !== renewedInVain) {
        await renew(tokens.access_token).catch(() => {
          renewedInVain = tokens.access_token;
        });
      }
      return known?.tokens?.access_token;
    },
    async onUnauthorized({ response }) {
      await renew(sentWith.get(response));
    },
    async noteAnswer(response, authorization) {
      sentWith.set(response, authorization?.replace(/^Bearer /i, ""));
      if (response.ok) refusal = undefined;
      if (response.status !== 403) return;
      const { error, scope = "" } = extractWWWAuthenticateParams(response);
      if (error === "insufficient_scope") await noteWanted(splitScopes(scope));
    },
  };

  function isEnding({ expires_at, refresh_token }: StoredTokens): boolean {
    return (
      refresh_token !== undefined &&
      expires_at !== undefined &&
      expires_at - clock.now() < MARGIN_MS
    );
  }

  /** A token issued for another address is none for this one. */
  function learn(login: StoredLogin | undefined): void {
    known = login?.server_url === serverUrl ? login : undefined;
    for (const value of known === undefined ? [] : secretsOfLogin(known)) {
      if (secrets.has(value)) continue;
      secrets.add(value);
      parts.onSecret?.({ name: `login of ${server_id}`, value });
    }
  }

  /** Afterwards there is another token than `used`, or it rejects with an McpLoginFailure. */
  async function renew(used: string | undefined): Promise<void> {
    // Most who are not logged in never were: nothing is made in their home.
    if ((await logins.read(server_id)) === undefined) throw refuse("it wants a login");
    await logins.change(server_id, async (login, save) => {
      learn(login);
      const tokens = known?.tokens;
      if (known === undefined || tokens === undefined) throw refuse("it wants a login");
      if (tokens.access_token !== used) return;
      if (tokens.refresh_token === undefined) {
        throw refuse("its login is over, or is not accepted any more");
      }
      await refresh(known, tokens, tokens.refresh_token, save);
    });
  }

  async function refresh(
    login: StoredLogin,
    tokens: StoredTokens,
    refreshToken: string,
    save: SaveLogin,
  ): Promise<void> {
    try {
      const fetch = guardedFetch(serverUrl, AbortSignal.timeout(REFRESH_MS));
      const { resource_metadata_url: resourceMetadataUrl } = login;
      const issuer = await findIssuer({ serverUrl, resourceMetadataUrl, fetch });
      if (issuer.issuer !== tokens.client.issuer) {
        // The token is shown to no one but the one who issued it.
        throw new McpLoginFailure("refused", "its authorization server is another now");
      }
      const { client, scopes } = tokens;
      const question = { issuer, client, settings, scopes, fetch, now: clock.now() };
      const next = { ...login, tokens: await requestTokens(question, { refreshToken }) };
      // Reported before it is written: from here on it may turn up anywhere.
      learn(next);
      await save(next);
    } catch (error) {
      const isOver = error instanceof McpLoginFailure && error.reason === "refused";
      if (!isOver) throw createRenewalFailure(error);
      // No one tries it again.
      const { refresh_token: _spent, ...rest } = tokens;
      const spent = { ...login, tokens: rest };
      learn(spent);
      await save(spent);
      throw refuse(`its login cannot be renewed: ${error.message}`);
    }
  }

  /** More than the token allows. What was asked for already another login would not give either. */
  async function noteWanted(scopes: readonly string[]): Promise<void> {
    await logins.change(server_id, async (login, save) => {
      learn(login);
      const asked = known?.requested_scopes ?? [];
      const missing = scopes.filter((scope) => !asked.includes(scope));
      if (known === undefined || missing.length === 0) {
        const message = "it refuses this to the login it was given; another one would not help";
        refusal = { message, isOver: false };
        return;
      }
      const wanted_scopes = [...new Set([...known.wanted_scopes, ...missing])].slice(0, MAX_SCOPES);
      const next = { ...known, wanted_scopes };
      learn(next);
      await save(next);
      const more = serverLine(missing.join(" "), [], 200);
      refuse(`it wants a login that allows more (${more})`, false);
    });
  }

  function refuse(why: string, isOver = true): McpLoginFailure {
    const message = `${why}. Log in: soong mcp login ${server_id}`;
    // The first reason is the one: what else is asked afterwards fails because of it.
    if (refusal?.isOver !== true) refusal = { message, isOver };
    return new McpLoginFailure("refused", message);
  }

  function createRenewalFailure(error: unknown): McpLoginFailure {
    const isKnown = error instanceof McpLoginFailure;
    const why = isKnown ? error.message : "an unknown error";
    const message = `its login could not be renewed: ${why}. Try again, or log in: soong mcp login ${server_id}`;
    refusal = { message, isOver: true };
    return new McpLoginFailure(isKnown ? error.reason : "unreachable", message);
  }
}
