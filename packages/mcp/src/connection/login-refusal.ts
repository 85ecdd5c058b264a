// A server that wants a login, or more than ours allows: said in words that name the way out. When nothing can
// be asked of it any more the server is lost, until someone has logged in (MCP-8).

import { UnauthorizedError, SdkHttpError } from "@modelcontextprotocol/client";
import { McpLoginFailure } from "../authorization/index.ts";
import type { McpServerEntry } from "../settings/index.ts";
import type { ConnectedServer } from "./connected-server.ts";
import { McpRequestFailure, McpServerFailure } from "./failure.ts";
import { hasOwnAuthorization, type ServerTransport } from "./server-transport.ts";

type Requests = Pick<ConnectedServer, "listToolsPage" | "callTool" | "request">;

export function withLoginFailures(
  requests: Requests,
  way: ServerTransport,
  entry: McpServerEntry,
  onOver: (failure: McpServerFailure) => void,
): Requests {
  return {
    listToolsPage: (cursor, signal) => reportLogin(requests.listToolsPage(cursor, signal)),
    callTool: (request, options) => reportLogin(requests.callTool(request, options)),
    request: (method, params, options) => reportLogin(requests.request(method, params, options)),
  };

  async function reportLogin<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof McpRequestFailure) || error.reason !== "unauthorized") throw error;
      const { message, isOver } = refusalOf(way, entry);
      if (isOver) onOver(new McpServerFailure("unauthorized", sentence(entry, message)));
      throw new McpRequestFailure("unauthorized", message);
    }
  }
}

/** Why it could not be connected, if that is a matter of logging in. */
export function loginFailure(
  error: unknown,
  way: ServerTransport,
  entry: McpServerEntry,
): McpServerFailure | undefined {
  const refusal = way.kind === "http" ? way.tokens?.refusal : undefined;
  if (refusal !== undefined) {
    return new McpServerFailure("unauthorized", sentence(entry, refusal.message));
  }
  if (error instanceof McpLoginFailure) {
    return new McpServerFailure("unauthorized", sentence(entry, error.message));
  }
  const isRefused =
    error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401);
  if (!isRefused) return undefined;
  return new McpServerFailure("unauthorized", sentence(entry, refusalOf(way, entry).message));
}

function refusalOf(
  way: ServerTransport,
  { server_id, transport }: McpServerEntry,
): { message: string; isOver: boolean } {
  const refusal = way.kind === "http" ? way.tokens?.refusal : undefined;
  if (refusal !== undefined) return refusal;
  const message =
    transport.kind === "http" && hasOwnAuthorization(transport.headers)
      ? "it does not accept the authorization in the headers of its entry (HTTP 401)"
      : `it wants a login (HTTP 401). Log in: soong mcp login ${server_id}`;
  return { message, isOver: true };
}

function sentence({ server_id }: McpServerEntry, why: string): string {
  return `MCP server "${server_id}" cannot be used: ${why}.`;
}
