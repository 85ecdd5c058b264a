// Why a server could not be connected, in words the user can act on.

import { SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { serverLine } from "../authorization/index.ts";
import { McpServerFailure } from "./failure.ts";

export function connectFailure(
  error: unknown,
  about: { name: string; end: string | undefined; secrets: readonly string[] },
): McpServerFailure {
  const { name, end, secrets } = about;
  if (error instanceof McpServerFailure) return error;
  if (end !== undefined) {
    return new McpServerFailure("lost", `${name} was not ready when it was over: ${end}.`);
  }
  const status = error instanceof SdkHttpError ? error.status : undefined;
  if (status === 403) {
    const message = `${name} refuses us (HTTP 403). See whether the headers of its entry are right.`;
    return new McpServerFailure("unauthorized", message);
  }
  const said = serverLine(error instanceof Error ? error.message : String(error), secrets);
  const code = systemCode(error);
  if (code !== undefined) {
    const message = `${name} cannot be reached (${code}). See whether it runs and its address is right.`;
    return new McpServerFailure("unreachable", message);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new McpServerFailure("timeout", `${name} did not answer in time: ${said}`);
  }
  return new McpServerFailure(
    "protocol",
    `${name} does not speak a supported version of MCP: ${said}`,
  );
}

/** Such as ECONNREFUSED: `fetch` hides it in the causes of its error. */
function systemCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === "string" && SYSTEM_CODE.test(code)) return code;
    const inner = current instanceof AggregateError ? (current.errors as unknown[])[0] : undefined;
    const { data } = current as { data?: { cause?: unknown } };
    current = current.cause ?? inner ?? data?.cause;
  }
  return undefined;
}

const SYSTEM_CODE = /^(?:E[A-Z]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED[A-Z_]*)$/;
