// A login: the user says yes in a browser, and comes back to an address of this machine (MCP-8). Nothing is
// opened here: the address to go to is handed to the caller. And its end: the file is gone at once; the tokens are taken
// back where the issuer offers that.

import { randomBytes } from "node:crypto";
import {
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  startAuthorization,
  validateAuthorizationResponseIssuer,
  type FetchLike,
} from "@modelcontextprotocol/client";
import { systemClock, type Clock } from "@soong/core";
import type { McpOAuthSettings, McpSecret, McpServerEntry } from "../settings/index.ts";
import { findIssuer, revocationEndpoint, type Issuer } from "./find-issuer.ts";
import { addressProblem, guardedFetch } from "./guarded-fetch.ts";
import { McpLoginFailure, serverLine } from "./login-failure.ts";
import { secretsOfLogin, type McpLogins, type StoredLogin, type StoredTokens } from "./logins.ts";
import { openRedirectListener } from "./redirect-listener.ts";
import { chooseClient, requestTokens, splitScopes, withSecret } from "./token-request.ts";

export interface McpLoginOptions {
  readonly logins: McpLogins;
  /** Where the user is to go: always https, or an address of this machine for a server on it. */
  readonly show: (url: string) => void | Promise<void>;
  readonly signal?: AbortSignal;
  /** For all of it. */
  readonly timeoutMs?: number;
  /** Receives every secret before it is kept. */
  readonly onSecret?: (secret: McpSecret) => void;
  readonly clock?: Clock;
}

export interface McpLoginReport {
  readonly server_id: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires_at?: number;
  /** Whether it is renewed without the user. */
  readonly renewable: boolean;
}

const TIMEOUT_MS = 300_000;

/** Rejects with an McpLoginFailure; what was kept before is then still there. */
export async function logInToServer(
  entry: McpServerEntry,
  options: McpLoginOptions,
): Promise<McpLoginReport> {
  const { server_id, transport, missing_variables } = entry;
  if (transport.kind !== "http") {
    throw named(entry, "not_offered", "it is a program: there is nothing to log in to");
  }
  if (missing_variables.length > 0) {
    const missing = missing_variables.join(", ");
    throw named(entry, "not_offered", `not set in the environment: ${missing}`);
  }
  const { clock = systemClock(), timeoutMs = TIMEOUT_MS } = options;
  const over = new AbortController();
  const cancel = clock.after(timeoutMs, () =>
    over.abort(new McpLoginFailure("timeout", `no one logged in within ${timeoutMs} ms`)),
  );
  const onAbort = () => over.abort(new McpLoginFailure("aborted", "it was given up"));
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  try {
    const { url, oauth } = transport;
    const login = await obtainLogin({ server_id, url, oauth }, options, clock, over.signal);
    for (const value of secretsOfLogin(login)) {
      options.onSecret?.({ name: `login of ${server_id}`, value });
    }
    await options.logins.change(server_id, (_before, save) => save(login));
    const { client, scopes, expires_at, refresh_token } = login.tokens;
    const renewable = refresh_token !== undefined;
    return { server_id, issuer: client.issuer, scopes, expires_at, renewable };
  } catch (error) {
    const why = over.signal.aborted ? (over.signal.reason as unknown) : error;
    if (why instanceof McpLoginFailure) throw named(entry, why.reason, why.message);
    const said = serverLine(why instanceof Error ? why.message : String(why));
    throw named(entry, "invalid_answer", said);
  } finally {
    cancel();
    options.signal?.removeEventListener("abort", onAbort);
  }
}

async function obtainLogin(
  about: { server_id: string; url: string; oauth: McpOAuthSettings | undefined },
  { logins, show }: McpLoginOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<StoredLogin & { tokens: StoredTokens }> {
  const { server_id, url: serverUrl, oauth: settings = {} } = about;
  const fetch = guardedFetch(serverUrl, signal);
  const stored = await logins.read(server_id);
  // What was kept for another address says nothing about this one.
  const before = stored?.server_url === serverUrl ? stored : undefined;
  const challenge = await askForChallenge(serverUrl, fetch);
  const resourceMetadataUrl = challenge.resourceMetadataUrl ?? before?.resource_metadata_url;
  const issuer = await findIssuer({ serverUrl, resourceMetadataUrl, fetch });
  const scopes = chooseScopes(issuer, before, settings.scopes, challenge.scopes);
  const scope = scopes.length === 0 ? undefined : scopes.join(" ");
  const known = before?.client;
  const preferred = known?.issuer === issuer.issuer ? known.redirect_uri : undefined;
  const listener = await openRedirectListener(settings.redirect_uri, preferred);
  try {
    const { redirectUri } = listener;
    const common = { issuer, settings, fetch };
    const client = await chooseClient({ ...common, known, redirectUri, scope, now: clock.now() });
    const state = randomBytes(32).toString("base64url");
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer.issuer, {
      metadata: issuer.metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      scope,
      state,
      resource: issuer.resource,
    });
    const problem = addressProblem(authorizationUrl, serverUrl);
    if (problem !== undefined) {
      throw new McpLoginFailure("insecure", `the address to log in at ${problem}`);
    }
    const answered = listener.answer(state, signal);
    answered.catch(() => {});
    await show(authorizationUrl.href);
    const grant = { ...readAnswer(await answered, issuer), codeVerifier };
    const question = { ...common, client, scopes, now: clock.now() };
    return {
      version: 1,
      server_url: serverUrl,
      resource_metadata_url: resourceMetadataUrl,
      requested_scopes: scopes,
      wanted_scopes: [],
      client,
      tokens: await requestTokens(question, grant),
    };
  } finally {
    listener.close();
  }
}

/** Asks for the challenge without a login. A server that allows anonymous access may still offer a login. */
async function askForChallenge(
  serverUrl: string,
  fetch: FetchLike,
): Promise<{ resourceMetadataUrl?: string; scopes?: readonly string[] }> {
  const response = await fetch(serverUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
  });
  if (response.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return {
    resourceMetadataUrl: resourceMetadataUrl?.href,
    scopes: scope === undefined ? undefined : splitScopes(scope),
  };
}

/** Never less than before: a server that asks for more asks for that alone. */
function chooseScopes(
  issuer: Issuer,
  before: StoredLogin | undefined,
  asked: readonly string[] | undefined,
  challenge: readonly string[] | undefined,
): readonly string[] {
  const isSameIssuer = before?.tokens?.client.issuer === issuer.issuer;
  const earlier = isSameIssuer ? before.requested_scopes : [];
  const scopes = new Set([
    ...(asked ?? challenge ?? issuer.scopes ?? []),
    ...earlier,
    ...(before?.wanted_scopes ?? []),
  ]);
  const canStay = issuer.metadata.scopes_supported?.includes("offline_access") === true;
  if (scopes.size > 0 && canStay && asked === undefined) scopes.add("offline_access");
  return [...scopes];
}

/** Whose answer it is comes first: what another says, even why it said no, is not believed. */
function readAnswer(
  parameters: URLSearchParams,
  { metadata }: Issuer,
): { code: string; iss: string | undefined } {
  const iss = parameters.get("iss") ?? undefined;
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    });
  } catch (error) {
    if (!(error instanceof IssuerMismatchError)) throw error;
    const message = "the answer to the login came from another authorization server";
    throw new McpLoginFailure("insecure", message);
  }
  const code = parameters.get("code");
  if (code !== null && code !== "") return { code, iss };
  const said = serverLine(parameters.get("error") ?? "no reason given", [], 100);
  throw new McpLoginFailure("refused", `the login was refused (${said})`);
}

function named(
  { server_id }: McpServerEntry,
  reason: McpLoginFailure["reason"],
  why: string,
): McpLoginFailure {
  return new McpLoginFailure(reason, `No login to the MCP server "${server_id}": ${why}.`);
}

const REVOKE_MS = 10_000;

/** Whether there was a login. */
export async function logOutOfServer(
  { server_id, transport }: McpServerEntry,
  { logins }: { readonly logins: McpLogins },
): Promise<boolean> {
  // What cannot be read can still be removed.
  const login = await logins.read(server_id).catch(() => undefined);
  const wasThere = await logins.remove(server_id);
  const settings = (transport.kind === "http" ? transport.oauth : undefined) ?? {};
  if (wasThere && login !== undefined) await takeBack(login, settings).catch(() => {});
  return wasThere;
}

/** Best done, never needed: no one has the tokens any more. */
async function takeBack(
  { server_url, resource_metadata_url, tokens }: StoredLogin,
  settings: McpOAuthSettings,
): Promise<void> {
  if (tokens === undefined) return;
  const fetch = guardedFetch(server_url, AbortSignal.timeout(REVOKE_MS));
  const { issuer, metadata } = await findIssuer({
    serverUrl: server_url,
    resourceMetadataUrl: resource_metadata_url,
    fetch,
  });
  const endpoint = revocationEndpoint(metadata);
  // A token is shown to no one but the one who issued it.
  if (endpoint === undefined || issuer !== tokens.client.issuer) return;
  const { client_id, client_secret } = withSecret(tokens.client, settings);
  const basic = Buffer.from(`${client_id}:${client_secret ?? ""}`).toString("base64");
  for (const token of [tokens.refresh_token, tokens.access_token]) {
    if (token === undefined) continue;
    await fetch(endpoint, {
      method: "POST",
      headers: client_secret === undefined ? {} : { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ token, ...(client_secret === undefined ? { client_id } : {}) }),
    });
  }
}
