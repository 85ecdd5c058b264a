// One server as its users see it: had when needed, lost, had again; and what can be asked of it. What it answers is
// its own and unjudged: tools and results are the JSON it sent, in both eras.

import type {
  Clock,
  ElicitationAnswer,
  ElicitationRequest,
  JsonObject,
  JsonValue,
  Redactor,
  Roots,
} from "@soong/core";
import type { OpenEntrySandbox, RefusedHost } from "@soong/platform";
import type { McpLogins } from "../authorization/logins.ts";
import type { McpSecret } from "../settings/index.ts";
import type { McpServerFailure } from "./failure.ts";

export interface McpConnection {
  readonly server_id: string;
  readonly state: McpConnectionState;
  /**
   * Connects if need be; all who wait share one attempt. Rejects with an McpServerFailure: at once while
   * the server is not contacted after a failure (`retry_at`). The signal ends the waiting, not the attempt.
   */
  connected(signal?: AbortSignal): Promise<ConnectedServer>;
  /** The server says that its list of tools is another now. Returns how to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  /** The server tells something of its prompts or resources. Returns how to stop listening. */
  onNotice(listener: (notice: ServerNotice) => void): () => void;
  onStateChanged(listener: (state: McpConnectionState) => void): () => void;
  /** Ends the server's process and all its children. Settles when they are gone; never rejects. */
  close(): Promise<void>;
}

export type McpConnectionState =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting" }
  | { readonly kind: "connected"; readonly server: ConnectedServer }
  /** It could not be had, or is gone. No attempt is made before `retry_at`, and none without need. */
  | { readonly kind: "failed"; readonly failure: McpServerFailure; readonly retry_at: number }
  | { readonly kind: "closed" };

/** What a server tells of its prompts and resources. */
export type ServerNotice =
  | { readonly kind: "prompts_changed" | "resources_changed" }
  | { readonly kind: "resource_updated"; readonly uri: string };

export interface ConnectionOptions {
  /** The environment a server's variables are chosen from: that of this process unless given. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Names a server may see, instead of the default list. */
  readonly envAllowlist?: readonly string[];
  /** Where a server runs whose entry says nothing; the user's home unless given, never the project. */
  readonly cwd?: string;
  /** Where the agent works: a server's program is never taken from there (MCP-11). */
  readonly roots?: Roots;
  /** The server's standard error is appended here, bounded. Nowhere unless given. */
  readonly logFile?: string;
  /** Takes secrets out of what is appended there. */
  readonly redactor?: Redactor;
  /** Whether anyone can answer questions: only then does the server learn that it may ask (MCP-5). */
  readonly canElicit?: boolean;
  /** Whether those who call its tools may be asked for a message of their model, or for their roots. */
  readonly canSample?: boolean;
  readonly canListRoots?: boolean;
  /** Where the tokens of remote servers are kept. Without it none is ever sent. */
  readonly logins?: McpLogins;
  /** For a server whose entry wants a sandbox; without it such a server is not started. */
  readonly openSandbox?: OpenEntrySandbox;
  /** A host that a server in a sandbox wanted and did not get; once for each and its port. */
  readonly onRefusedHost?: (refused: RefusedHost) => void;
  /** Receives every token before it is first sent: it must never be shown or recorded. */
  readonly onSecret?: (secret: McpSecret) => void;
  readonly clock?: Clock;
  /** How we introduce ourselves. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
}

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
