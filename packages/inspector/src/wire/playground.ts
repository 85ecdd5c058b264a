// Trying a tool: which there are, what would be decided about a call, and the call itself, through the whole pipeline.

import type {
  ChainEntry,
  Explanation,
  JsonObject,
  JsonValue,
  Permission,
  ToolResult,
} from "@soong/core";

export interface PlaygroundTools {
  /** Where its calls happen. */
  cwd: string;
  tools: readonly PlaygroundTool[];
  /** Servers that could not be asked, each as a sentence. */
  problems: readonly string[];
}

export interface PlaygroundTool {
  tool_name: string;
  description: string;
  permission: Permission;
  input_schema: JsonObject;
  tags: readonly string[];
}

export interface PlaygroundCall {
  tool_name: string;
  /** As the user filled it in: also what is wrong goes through the pipeline. */
  input: JsonValue;
}

export interface Explained {
  explanation: Explanation;
  /** In words: what a yes for the session would cover. */
  session_scope?: string;
  /** Of a tool that is refused because no rule leaves it on offer: the rule that does so. */
  blocked?: readonly ChainEntry[];
}

/** The call has begun; the page sees it in its session, and its questions like those of any other. */
export interface Called {
  session_id: string;
  run_id: string;
}

export interface CallEnded extends Called {
  tool_call_id: string;
  result: ToolResult;
}
