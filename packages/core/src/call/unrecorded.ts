// Results for what must not happen and still must not be lost: a fault of ours, a journal that fails.

import { messageOf, toolError, type ToolError, type ToolResult } from "../tool/index.ts";
import type { Call } from "./call.ts";

/** Of a call whose tool is not known. */
export const NO_PROVENANCE = Object.freeze({ source_kind: "none", source_id: "none" });

export function bareResult(call: Call, error: ToolError): ToolResult {
  return {
    tool_call_id: call.tool_call_id,
    tool_name: call.tool_name,
    status: "failed",
    is_error: true,
    content: [{ type: "text", text: error.message }],
    summary: error.message,
    artifacts: [],
    error,
    metadata: {
      duration_ms: 0,
      provenance: call.tool?.provenance ?? NO_PROVENANCE,
    },
  };
}

/** It may have happened, and nothing says so on record: the model must not take it for done and known. */
export function unrecorded(result: ToolResult, thrown: unknown): ToolResult {
  const error = toolError({
    code: "journal_unavailable",
    error_class: "dependency_unavailable",
    message: `The call ended as ${result.status}, but that could not be recorded: ${messageOf(thrown)}`,
    recovery: "ask_the_user",
  });
  const content: ToolResult["content"] = [{ type: "text", text: error.message }, ...result.content];
  return { ...result, status: "unknown", is_error: true, content, summary: error.message, error };
}
