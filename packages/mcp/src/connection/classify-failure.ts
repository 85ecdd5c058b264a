// What the SDK throws, classified: why a server could not be connected, or why a request to it failed, in words the
// user can act on. A server that wants a login, or more than ours allows, names the way out (MCP-8).

import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { JsonValue } from "@soong/core";
import { McpLoginFailure, serverLine } from "../authorization/login-failure.ts";
import { McpRequestFailure, McpServerFailure } from "./failure.ts";
import type { ServerTransport } from "./server-transport.ts";

export function connectFailure(
  error: unknown,
  server_id: string,
  way: ServerTransport,
): McpServerFailure {
  const refusal = way.refusal();
  if (refusal !== undefined) return unusable(server_id, refusal.message);
  if (error instanceof McpLoginFailure) return unusable(server_id, error.message);
  if (isUnauthorized(error)) return unusable(server_id, way.describeRefusal().message);
  if (error instanceof McpServerFailure) return error;
  const name = `MCP server "${server_id}"`;
  const end = way.end();
  if (end !== undefined) {
    return new McpServerFailure("lost", `${name} was not ready when it was over: ${end}.`);
  }
  if (error instanceof SdkHttpError && error.status === 403) {
    const message = `${name} refuses us (HTTP 403). See whether the headers of its entry are right.`;
    return new McpServerFailure("unauthorized", message);
  }
  const why = unreachableBecause(error);
  if (why !== undefined) {
    const message = `${name} cannot be reached (${why}). See whether it runs and its address is right.`;
    return new McpServerFailure("unreachable", message);
  }
  const said = describe(error, way);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new McpServerFailure("timeout", `${name} did not answer in time: ${said}`);
  }
  const message = `${name} does not speak a supported version of MCP: ${said}`;
  return new McpServerFailure("protocol", message);
}

export function unusable(server_id: string, why: string): McpServerFailure {
  const message = `MCP server "${server_id}" cannot be used: ${why}.`;
  return new McpServerFailure("unauthorized", message);
}

export function requestFailure(error: unknown, way: ServerTransport): McpRequestFailure {
  const message = describe(error, way);
  if (error instanceof ProtocolError) {
    const data = error.data as JsonValue | undefined;
    return new McpRequestFailure("rpc_error", message, { code: error.code, data });
  }
  const isAboutLogin = error instanceof McpLoginFailure || error instanceof InsufficientScopeError;
  if (isAboutLogin || isUnauthorized(error)) {
    return new McpRequestFailure("unauthorized", way.describeRefusal().message);
  }
  if (error instanceof SdkHttpError) {
    const answered = `the server answered with HTTP ${error.status}`;
    return new McpRequestFailure("lost", `${answered}: ${message}`);
  }
  const isUnreadable = error instanceof SdkError && UNREADABLE.has(error.code);
  if (isUnreadable || (error instanceof Error && error.name === "SyntaxError")) {
    return new McpRequestFailure("invalid_answer", `the server's answer is not MCP: ${message}`);
  }
  return new McpRequestFailure("lost", way.end() ?? `the connection broke: ${message}`);
}

function describe(error: unknown, way: ServerTransport): string {
  return serverLine(error instanceof Error ? error.message : String(error), way.secrets());
}

/** Refused before anything was done. */
function isUnauthorized(error: unknown): boolean {
  return (
    error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401)
  );
}

const UNREADABLE: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
]);

/** Such as ECONNREFUSED: `fetch` hides it in the causes of its error. Of a port it never asks it says so in words. */
function unreachableBecause(error: unknown): string | undefined {
  let current = error;
  let isFetch = false;
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === "string" && SYSTEM_CODE.test(code)) return code;
    if (isFetch && current.message === "bad port") return current.message;
    isFetch = current.message === "fetch failed";
    const inner = current instanceof AggregateError ? (current.errors as unknown[])[0] : undefined;
    const { data } = current as { data?: { cause?: unknown } };
    current = current.cause ?? inner ?? data?.cause;
  }
  return undefined;
}

const SYSTEM_CODE = /^(?:E[A-Z]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED[A-Z_]*)$/;
