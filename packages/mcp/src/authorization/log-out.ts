// The end of a login: the file is gone at once; the tokens are taken back where the issuer offers that.

import type { McpOAuthSettings, McpServerEntry } from "../settings/index.ts";
import { withSecret } from "./choose-client.ts";
import { findIssuer, revocationEndpoint } from "./find-issuer.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import type { McpLogins } from "./logins.ts";
import type { StoredLogin } from "./stored-login.ts";

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
