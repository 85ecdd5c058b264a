// A memory kept by an MCP server (MEM-2, MEM-4): recalling and writing are calls of this run to the configured tools, judged,
// asked for and on record as any call the model makes.

import {
  ToolFailure,
  type JsonObject,
  type ToolContext,
  type ToolResult,
  type ContextNode,
} from "@soong/core";
import { isEmptyResult } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { type CallingRun, estimateTextTokens } from "../context/index.ts";
import { NOTES_RANK, sha256 } from "./memory-entry.ts";

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
  const [result] = await context.waitForUser(turn.settled());
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

// What an external memory has answered, as it comes into a conversation: quoted line by line, within a budget. It is data, like
// any memory.

interface ExternalAnswer {
  /** Undefined: nothing was found. */
  readonly node?: ContextNode;
  /** Lines there was no room for. */
  readonly left_out: number;
  readonly tokens: number;
}

export function readAnswer(
  result: ToolResult,
  about: { readonly tool: string; readonly why: string; readonly tokens: number },
): ExternalAnswer {
  const { tool, why, tokens: budget } = about;
  if (isEmptyResult(result)) return NOTHING;
  const text = result.content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
  if (isEmptyAnswer(text)) return NOTHING;
  const { lines, left_out } = cutToTokens(text.split(/\r\n|\n|\r/), budget);
  const quoted = lines.map((line) => `> ${line}`).join("\n");
  return {
    node: {
      kind: "memory_context",
      text: `Memories that ${tool} recalled ${why}. ${NOTES_RANK}\n\n${quoted}`,
      data: { memories: [], tool_name: tool, sha256: sha256(quoted) },
    },
    left_out,
    tokens: estimateTextTokens(quoted),
  };
}

const NOTHING: ExternalAnswer = { left_out: 0, tokens: 0 };

/** Many servers say "nothing" as JSON with empty lists in it. */
function isEmptyAnswer(text: string): boolean {
  if (text === "") return true;
  try {
    return !holdsSomething(JSON.parse(text));
  } catch {
    return false;
  }
}

function holdsSomething(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.values(value).some(holdsSomething);
}

function cutToTokens(
  lines: readonly string[],
  budget: number,
): { lines: string[]; left_out: number } {
  const taken: string[] = [];
  let tokens = 0;
  for (const line of lines) {
    tokens += estimateTextTokens(`> ${line}\n`);
    if (tokens > budget) {
      // One long line, as JSON often is, is cut rather than lost.
      if (taken.length === 0)
        return { lines: [`${line.slice(0, budget * 2)}…`], left_out: lines.length - 1 };
      break;
    }
    taken.push(line);
  }
  return { lines: taken, left_out: lines.length - taken.length };
}
