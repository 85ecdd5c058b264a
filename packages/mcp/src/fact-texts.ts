// What the facts of MCP servers say.

import { countOf, inBrackets, phrase, type FactTexts } from "@soong/core";
import type { McpFactPayloads } from "./facts.ts";

export const MCP_FACT_TEXTS: FactTexts<keyof McpFactPayloads> = {
  "mcp.server.connected": ({ server_id, tools }) =>
    phrase(server_id, "connected", inBrackets(countOf(tools, "tool"))),
  "mcp.server.failed": ({ server_id, message }) => phrase(server_id, "failed:", message),
  "mcp.server.tools_changed": ({ server_id }) => phrase(server_id, "changed its tools"),
  "mcp.server.host_request": ({ server_id, method, outcome }) =>
    phrase(server_id, "requested", method, inBrackets(outcome)),
};
