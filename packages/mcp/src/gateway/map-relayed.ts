// The result of a call that read a resource or got a prompt, in the form the protocol has for it; and any result
// that the protocol has an error for.

import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptResult,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { relayedMessages } from "../relay/index.ts";
import { CALL_TOOL } from "./list-tools.ts";
import { clientBlocks, noticeOf } from "./map-result.ts";

export function promptResult(result: ToolResult, reader: string | undefined): GetPromptResult {
  throwIfError(result);
  const { description, messages } = relayedMessages(result);
  const notice = noticeOf(result, reader);
  return {
    description,
    messages: [
      ...messages.flatMap(({ role, block }) =>
        clientBlocks(block).map((content) => ({ role, content })),
      ),
      ...(notice === undefined
        ? []
        : [{ role: "user" as const, content: { type: "text" as const, text: notice } }]),
    ],
  };
}

/** What is not a resource any more, because it was cut or kept elsewhere, is text under the same address. */
export function resourceResult(
  result: ToolResult,
  uri: string,
  reader: string | undefined,
): ReadResourceResult {
  throwIfError(result);
  const notice = noticeOf(result, reader);
  const contents = result.content.flatMap((block): ReadResourceResult["contents"] => {
    const [sent] = clientBlocks(block);
    if (sent?.type === "resource") return [sent.resource];
    if (sent?.type === "text") return [{ uri, mimeType: "text/plain", text: sent.text }];
    return sent === undefined || sent.type === "resource_link"
      ? []
      : [{ uri, mimeType: sent.mimeType, blob: sent.data }];
  });
  return {
    contents:
      notice === undefined
        ? contents
        : [...contents, { uri, mimeType: "text/plain", text: notice }],
  };
}

/** A server's own error keeps its number; any other error is ours. */
export function throwIfError({ error, summary, is_error }: ToolResult): void {
  if (!is_error) return;
  const { rpc_code, data } = error?.details ?? {};
  const code = typeof rpc_code === "number" ? rpc_code : ProtocolErrorCode.InternalError;
  throwIfCapabilityMissing(error);
  throw new ProtocolError(code, error?.message ?? summary, isJsonObject(data) ? data : undefined);
}

/**
 * That there is no such tool is no result of one; its call is on record all the same. Nor is that it needs what
 * the client never declared.
 */
export function throwIfRefused({ error }: ToolResult, asked: string): void {
  const isUnknown = error?.code === "tool_not_available" && error.error_class === "unknown_tool";
  if (isUnknown && asked !== CALL_TOOL) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
  throwIfCapabilityMissing(error);
}

function throwIfCapabilityMissing(error: ToolResult["error"]): void {
  if (error?.code !== "client_capability_missing") return;
  const { required_capabilities, data } = error.details ?? {};
  const listed = isJsonObject(data) ? data["requiredCapabilities"] : undefined;
  const required = required_capabilities ?? listed;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: isJsonObject(required) ? required : {} },
    error.message,
  );
}
