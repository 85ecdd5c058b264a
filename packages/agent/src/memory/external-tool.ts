// A memory kept by an MCP server (MEM-2, MEM-4): recalling and writing are calls of this run to the configured tools, judged,
// asked for and on record as any call the model makes.

import { ToolFailure, type JsonObject, type ToolContext, type ToolResult } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { CallingRun } from "../context/index.ts";

/** A tool of an MCP server, and what it is given for the fields of ours. */
export interface ExternalTool<Fields> {
  /** Such as `mcp.notes.add`. */
  readonly tool: string;
  /** Without it the fields themselves. */
  readonly mapArguments?: (fields: Fields) => JsonObject;
}

/** Throws where the tool is none of a server's: it could be one that calls itself. */
export function checkExternalTool(setting: string, tool: string): void {
  if (/^mcp\.[^.]+\../.test(tool)) return;
  throw new TypeError(
    `${setting} is ${JSON.stringify(tool)}; it is the name of an MCP server's tool, such as "mcp.notes.add"`,
  );
}

/** The result of a call that worked; anything else is a ToolFailure. */
export async function callExternalTool<Fields extends JsonObject>(
  { tool, mapArguments = (fields) => fields }: ExternalTool<Fields>,
  fields: Fields,
  { context, calling }: { context: ToolContext; calling: CallingRun | undefined },
): Promise<ToolResult> {
  if (calling === undefined) {
    throw new ToolFailure({
      code: "no_conversation",
      error_class: "capability_gap",
      message: `${context.toolName} hands on to ${tool} from a conversation only; this call was made outside of one.`,
      recovery: "use_another_tool",
    });
  }
  // Without a parent node: the conversation continues from the result of the call that the model made.
  const turn = calling.run.openTurn();
  context.onCancel(async () => {
    await turn.abort(`${context.toolName} was cancelled`);
  });
  turn.push({ name: tool, arguments: mapArguments(fields), within: context.toolCallId });
  turn.end();
  // It has a timeout of its own, and may wait for approval.
  const [result] = await context.waitForPerson(turn.settled());
  if (result === undefined || result.is_error) throw toExternalFailure(tool, context, result);
  return result;
}

function toExternalFailure(
  tool: string,
  { toolName }: ToolContext,
  result: ToolResult | undefined,
): ToolFailure {
  const { tool_call_id, status = "failed", error } = result ?? {};
  const { code = "external_memory_failed", message = "it gave no reason", ...more } = error ?? {};
  const did = toolName === "internal.write_memory" ? "did not take it" : "did not answer";
  return new ToolFailure(
    {
      ...more,
      code,
      message: `${tool}, the configured memory, ${did} (${status}): ${message}`,
      details: { tool_name: tool, status, ...omitUndefined({ tool_call_id }) },
    },
    [],
    status === "timed_out" || status === "unknown" ? status : "failed",
  );
}
