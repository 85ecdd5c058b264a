// Who issues tokens for a server: what the server says of itself, and what the authorization server it names
// says of itself, both held to what they must say.

import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  IssuerMismatchError,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
  type FetchLike,
  type OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { addressProblem } from "./guarded-fetch.ts";
import { McpLoginFailure, serverLine } from "./login-failure.ts";

export interface Issuer {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** What tokens are asked for. */
  readonly resource: URL;
  /** What the server would have us ask for, where it says so. */
  readonly scopes: readonly string[] | undefined;
}

interface IssuerQuestion {
  readonly serverUrl: string;
  readonly resourceMetadataUrl: string | undefined;
  readonly fetch: FetchLike;
}

/** Rejects with an McpLoginFailure. */
export async function findIssuer(question: IssuerQuestion): Promise<Issuer> {
  const { serverUrl } = question;
  const about = await resourceMetadata(question);
  const own = resourceUrlFromServerUrl(serverUrl);
  const named = about?.resource;
  if (
    named !== undefined &&
    !checkResourceAllowed({ requestedResource: own, configuredResource: named })
  ) {
    const message = `it says that it is another server (${serverLine(named, [], 200)})`;
    throw new McpLoginFailure("insecure", message);
  }
  // Without a word from the server its own address is where to look.
  const issuer = about?.authorization_servers?.[0] ?? String(new URL("/", serverUrl));
  const metadata = await issuerMetadata(issuer, question, about !== undefined);
  return {
    issuer: metadata.issuer,
    metadata,
    resource: named === undefined ? own : asPublished(named),
    scopes: about?.scopes_supported,
  };
}

/** Sent letter by letter: an address without a path must not get a slash. */
function asPublished(resource: string): URL {
  return Object.defineProperty(new URL(resource), "href", { value: resource });
}

async function resourceMetadata({
  serverUrl,
  resourceMetadataUrl,
  fetch,
}: IssuerQuestion): Promise<OAuthProtectedResourceMetadata | undefined> {
  let isThere = resourceMetadataUrl !== undefined;
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      { resourceMetadataUrl },
      async (url, init) => {
        const response = await fetch(url, init);
        isThere ||= response.ok;
        return response;
      },
    );
  } catch (error) {
    if (error instanceof McpLoginFailure) throw error;
    if (!isThere) return undefined;
    const message = "what it says about its login cannot be read";
    throw new McpLoginFailure("invalid_answer", message);
  }
}

async function issuerMetadata(
  issuer: string,
  { serverUrl, fetch }: IssuerQuestion,
  isNamed: boolean,
): Promise<AuthorizationServerMetadata> {
  const problem = addressProblem(issuer, serverUrl);
  const shown = serverLine(issuer, [], 200);
  if (problem !== undefined) {
    throw new McpLoginFailure("insecure", `its authorization server ${shown} ${problem}`);
  }
  let metadata: AuthorizationServerMetadata | undefined;
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  } catch (error) {
    if (error instanceof McpLoginFailure) throw error;
    if (error instanceof IssuerMismatchError) {
      const message = `the authorization server ${shown} says that it is another`;
      throw new McpLoginFailure("insecure", message);
    }
    const message = `what the authorization server ${shown} says of itself cannot be read`;
    throw new McpLoginFailure("invalid_answer", message);
  }
  if (metadata === undefined) {
    throw isNamed
      ? new McpLoginFailure("invalid_answer", `the authorization server ${shown} is none`)
      : new McpLoginFailure("not_offered", "it offers no login");
  }
  checkEndpoints(metadata, serverUrl);
  return metadata;
}

function checkEndpoints(metadata: AuthorizationServerMetadata, serverUrl: string): void {
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  const endpoints = [authorization_endpoint, token_endpoint, registration_endpoint];
  for (const address of [...endpoints, revocationEndpoint(metadata)]) {
    const problem = typeof address === "string" ? addressProblem(address, serverUrl) : undefined;
    if (problem !== undefined) {
      const shown = serverLine(String(address), [], 200);
      throw new McpLoginFailure("insecure", `its authorization server's ${shown} ${problem}`);
    }
  }
  // Without it a code that is seen on its way could be used by others.
  if (metadata.code_challenge_methods_supported?.includes("S256") !== true) {
    throw new McpLoginFailure("insecure", "its authorization server does not offer PKCE (S256)");
  }
}

export function revocationEndpoint(metadata: AuthorizationServerMetadata): string | undefined {
  const { revocation_endpoint: endpoint } = metadata as { revocation_endpoint?: unknown };
  return typeof endpoint === "string" ? endpoint : undefined;
}
