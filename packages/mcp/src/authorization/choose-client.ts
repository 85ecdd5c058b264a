// Who we are to an authorization server: a client registered by hand, the one from the last time, an address
// that describes us, or one registered now. A client of one issuer is never shown to another.

import {
  OAuthError,
  registerClient,
  RegistrationRejectedError,
  type FetchLike,
} from "@modelcontextprotocol/client";
import type { McpOAuthSettings } from "../settings/index.ts";
import type { Issuer } from "./find-issuer.ts";
import { McpLoginFailure } from "./login-failure.ts";
import { serverLine } from "./server-line.ts";
import type { StoredClient } from "./stored-login.ts";

export interface ClientQuestion {
  readonly issuer: Issuer;
  readonly settings: McpOAuthSettings;
  readonly known: StoredClient | undefined;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
  readonly now: number;
}

const NAME = "Soong";
const METHODS = ["none", "client_secret_basic", "client_secret_post"];

/** Rejects with an McpLoginFailure. */
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
        client_name: NAME,
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
      ...(expires > 0 ? { secret_expires_at: expires * 1000 } : {}),
    };
  } catch (error) {
    if (error instanceof McpLoginFailure) throw error;
    const isAnswer = error instanceof RegistrationRejectedError || error instanceof OAuthError;
    const said = isAnswer ? `: ${serverLine(error.message, [], 200)}` : "";
    throw new McpLoginFailure("refused", `its authorization server did not register us${said}`);
  }
}
