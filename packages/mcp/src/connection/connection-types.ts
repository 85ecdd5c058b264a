// One server as its users see it: had when needed, lost, had again.

import type { Clock, Redactor, Roots } from "@soong/core";
import type { McpLogins } from "../authorization/index.ts";
import type { McpSecret } from "../settings/index.ts";
import type { ConnectedServer } from "./connected-server.ts";
import type { McpServerFailure } from "./failure.ts";
import type { ServerNotice } from "./server-notices.ts";

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
  /** Receives every token before it is first sent: it must never be shown or recorded. */
  readonly onSecret?: (secret: McpSecret) => void;
  readonly clock?: Clock;
  /** How we introduce ourselves. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
}
