// A server that answers, and what can be asked of it. What it answers is its own and unjudged: tools and
// results are whatever JSON it sent, in both eras.

import type { ElicitationAnswer, ElicitationRequest, JsonObject, JsonValue } from "@soong/core";

/** "2025": initialize and a session; "2026": stateless, with `server/discover`. */
export type McpEra = "2025" | "2026";

export interface ConnectedServer {
  readonly era: McpEra;
  readonly protocol_version: string;
  readonly server_info: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  readonly capabilities: JsonObject;
  /** Rejects with an McpRequestFailure. */
  listToolsPage(cursor: string | undefined, signal?: AbortSignal): Promise<ToolsPage>;
  /** Never sent twice by itself. Rejects with an McpRequestFailure. */
  callTool(request: ToolCallRequest, options: ToolCallOptions): Promise<JsonObject>;
}

export interface ToolsPage {
  /** As the server sent them; none of them has been looked at. */
  readonly tools: readonly JsonValue[];
  readonly next_cursor: string | undefined;
}

export interface ToolCallRequest {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly _meta?: JsonObject;
}

export interface ToolCallOptions {
  readonly signal: AbortSignal;
  /** Starts anew with every progress, and stands still while a question is answered. */
  readonly timeoutMs: number;
  readonly onProgress?: (progress: McpProgress) => void;
  /** Questions of the server that belong to this call; declined where there is none. */
  readonly onElicitation?: AnswerElicitation;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type AnswerElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal },
) => Promise<ElicitationAnswer>;
