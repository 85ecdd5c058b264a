// The source module: the user's servers as sources of the registry, kept up to date while servers come, change
// and go.

export { openMcpServers, type McpServers, type McpServersOptions } from "./open-mcp-servers.ts";
export type {
  AcceptedChange,
  McpServerStatus,
  MoreTools,
  RecordServerFact,
  ServerFact,
} from "./server-source.ts";
