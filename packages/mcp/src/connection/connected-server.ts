// A server that answers, and what can be asked of it. What it answers is its own and unjudged: tools and
// results are the JSON it sent, in both eras.

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
  /** Never sent twice. Rejects with an McpRequestFailure. */
  callTool(request: ToolCallRequest, options: ToolCallOptions): Promise<JsonObject>;
  /** Any other request, with what comes with a call: progress, questions, its time, and what was sent. */
  request(method: string, params: JsonObject, options: ToolCallOptions): Promise<JsonObject>;
  /** Subscribes to changes of that resource, until the returned function is called. */
  watch(uri: string, signal: AbortSignal): Promise<() => Promise<void>>;
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
  /** Starts again with every progress, and is paused while a question is answered. */
  readonly timeoutMs: number;
  readonly onProgress?: (progress: McpProgress) => void;
  /** Questions of the server that belong to this call; declined where there is none. */
  readonly onElicitation?: AnswerElicitation;
  /** The caller, for what a server asks of a host; refused where there is none. */
  readonly host?: AskedHost;
  /** Several questions came at once, under these names. Returns who is called for each that has been handled. */
  readonly onQuestions?: (keys: readonly string[]) => (key: string) => void;
  /** Whose call this is. A question that names no call is asked only where all open calls are of one. */
  readonly asker?: unknown;
  /** What the server logs during it. A server of the newer era does so only at a requested level. */
  readonly onLog?: (params: JsonObject) => void;
  readonly logLevel?: string;
}

/** What of a host's it can be asked for, and how. Rejects with an McpRequestFailure. */
export interface AskedHost {
  readonly sampling: boolean;
  readonly roots: boolean;
  answer(request: HostRequest, options: QuestionOptions): Promise<JsonObject>;
}

export type HostRequest =
  | { readonly method: "sampling/createMessage"; readonly params: JsonObject }
  | { readonly method: "roots/list" };

export interface QuestionOptions {
  readonly signal: AbortSignal;
  /** What the server calls the question, where it does. */
  readonly key?: string;
}

export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type AnswerElicitation = (
  request: ElicitationRequest,
  options: QuestionOptions,
) => Promise<ElicitationAnswer>;
