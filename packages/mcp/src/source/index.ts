// The source module: the user's servers as sources of the registry, kept up to date while servers come, change
// and go; and the file that holds what was allowed.

export { openMcpServers, type McpServers, type McpServersOptions } from "./open-mcp-servers.ts";
export { openPinFile } from "./pin-file.ts";
export type { RecordServerFact, ServerFact } from "./describe-server.ts";
export type { AcceptedChange, McpServerStatus, MoreTools } from "./server-source.ts";
