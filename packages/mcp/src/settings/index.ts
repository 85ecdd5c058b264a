// The settings module: the user's mcp.json, read into entries, every problem with its place (MCP-1, MCP-6).
// It opens no file and starts nothing.

export { parseMcpSettings } from "./parse-settings.ts";
export type {
  McpOAuthSettings,
  McpEntryDefaults,
  McpSecret,
  McpServerEntry,
  McpTransport,
  ParsedMcpSettings,
} from "./server-entry.ts";
