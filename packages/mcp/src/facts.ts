// The facts of MCP servers (MCP-2, MCP-3).

import type { ConnectedServer } from "./connection/connected-server.ts";
import { countOf, type FactTexts, inBrackets, phrase } from "@soong/core";

declare module "@soong/core" {
  interface FactPayloads extends McpFactPayloads {}
}

export interface McpFactPayloads {
  "mcp.server.connected": ServerConnectedData;
  "mcp.server.failed": { server_id: string; reason: string; message: string; tools: number };
  "mcp.server.tools_changed": {
    server_id: string;
    tools: number;
    /** By the server's own names; the first of each. */
    added: readonly string[];
    removed: readonly string[];
    changed: readonly string[];
  };
  /** A host that a server in a sandbox wanted and did not get. */
  "mcp.server.host_refused": { server_id: string; host: string; port: number; why: string };
  /** What a server requested of the host during a call. */
  "mcp.server.host_request": HostRequestData;
}

export interface ServerConnectedData {
  server_id: string;
  era: ConnectedServer["era"];
  protocol_version: string;
  server_info: { name: string; version: string };
  tools: number;
  excluded: number;
}

export interface HostRequestData {
  server_id: string;
  run_id: string;
  tool_call_id: string;
  tool_name: string;
  method: string;
  outcome: string;
  preview?: string;
  max_tokens?: number;
  message?: string;
}

export const MCP_FACT_TEXTS: FactTexts<keyof McpFactPayloads> = {
  "mcp.server.connected": ({ server_id, tools }) =>
    phrase(server_id, "connected", inBrackets(countOf(tools, "tool"))),
  "mcp.server.failed": ({ server_id, message }) => phrase(server_id, "failed:", message),
  "mcp.server.tools_changed": ({ server_id }) => phrase(server_id, "changed its tools"),
  "mcp.server.host_refused": ({ server_id, host, why }) =>
    phrase(server_id, "was refused", `${host}, which`, why),
  "mcp.server.host_request": ({ server_id, method, outcome }) =>
    phrase(server_id, "requested", method, inBrackets(outcome)),
};
