// MCP servers of the home, and definitions they changed after they were allowed (MCP-7).

export interface ServerList {
  servers: ServerRow[];
}

export interface ServerRow {
  server_id: string;
  state: string;
  message?: string;
  tools: number;
  /** Held back until they are accepted as they are now. */
  changes: readonly ChangedTool[];
}

export interface ChangedTool {
  tool_name: string;
  /** Of the definition as it is now: what is accepted is what was shown. */
  hash: string;
  /** A line each. */
  changes: readonly string[];
}

export interface Accepted {
  accepted: readonly ChangedTool[];
}
