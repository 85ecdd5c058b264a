// What the SDK throws, classified: an error the server sent, an answer that is none, a server that is gone.

import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { JsonValue } from "@soong/core";
import { McpLoginFailure, serverLine } from "../authorization/index.ts";
import { McpRequestFailure } from "./failure.ts";

/** `end` says why the server is gone, where that is known. */
export function requestFailure(
  error: unknown,
  about: { secrets: readonly string[]; end: string | undefined },
): McpRequestFailure {
  const message = serverLine(error instanceof Error ? error.message : String(error), about.secrets);
  if (error instanceof ProtocolError) {
    const data = error.data as JsonValue | undefined;
    return new McpRequestFailure("rpc_error", message, { code: error.code, data });
  }
  if (isAboutLogin(error)) return new McpRequestFailure("unauthorized", message);
  if (error instanceof SdkHttpError) {
    const answered = `the server answered with HTTP ${error.status}`;
    return new McpRequestFailure("lost", `${answered}: ${message}`);
  }
  const isUnreadable = error instanceof SdkError && UNREADABLE.has(error.code);
  if (isUnreadable || (error instanceof Error && error.name === "SyntaxError")) {
    return new McpRequestFailure("invalid_answer", `the server's answer is not MCP: ${message}`);
  }
  return new McpRequestFailure("lost", about.end ?? `the connection broke: ${message}`);
}

/** Refused before anything was done. */
function isAboutLogin(error: unknown): boolean {
  return (
    error instanceof McpLoginFailure ||
    error instanceof UnauthorizedError ||
    error instanceof InsufficientScopeError ||
    (error instanceof SdkHttpError && error.status === 401)
  );
}

const UNREADABLE: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.ClientHttpUnexpectedContent,
]);
