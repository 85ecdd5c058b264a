// The memory of somebody else (MEM-2): the text goes to the configured tool as a call of this run, judged, asked for and on
// record as any call the model makes.

import { ToolFailure, toolResult, type ToolContext, type ToolResult } from "@soong/core";
import type { CallingRun } from "../skill/index.ts";
import type { MemoryNote } from "./memory-entry.ts";

export async function callExternalTool(
  tool: string,
  { content, tags, owner }: MemoryNote,
  { context, calling }: { context: ToolContext; calling: CallingRun | undefined },
): Promise<unknown> {
  if (calling === undefined) {
    throw new ToolFailure({
      code: "no_conversation",
      error_class: "capability_gap",
      message: `${context.toolName} hands on to ${tool} from a conversation only; this call was made outside of one.`,
      recovery: "use_another_tool",
    });
  }
  // Below nothing: the conversation goes on from the result of the call that the model made.
  const turn = calling.run.openTurn();
  context.onCancel(async () => {
    await turn.abort(`${context.toolName} was cancelled`);
  });
  const within = context.toolCallId;
  turn.push({ name: tool, arguments: { content, ...owner, tags }, within });
  turn.end();
  // It has a time of its own, and may wait for a person.
  const [result] = await context.waitForPerson(turn.settled());
  return answerOf(tool, result as ToolResult);
}

function answerOf(tool: string, { tool_call_id, status, is_error, error, content }: ToolResult) {
  const data = { tool_name: tool, tool_call_id, status };
  if (!is_error) {
    const said = { type: "text" as const, text: `${tool} has taken it. What it answered:` };
    return toolResult({ content: [said, ...content], data });
  }
  const { code = "external_memory_failed", message = "it gave no reason", ...more } = error ?? {};
  throw new ToolFailure(
    {
      ...more,
      code,
      message: `${tool}, the configured memory, did not take it (${status}): ${message}`,
      details: data,
    },
    [],
    status === "timed_out" || status === "unknown" ? status : "failed",
  );
}
