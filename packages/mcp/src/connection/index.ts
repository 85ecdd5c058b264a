// The connection module: one MCP server, connected when needed, in either era, over stdio or streamable HTTP.
// It carries requests and knows when the server is gone; what tools and results mean is not known here.

export { LOG_LEVEL_KEY, readPage } from "./client-requests.ts";
export type {
  AnswerElicitation,
  AskedHost,
  ConnectedServer,
  ConnectionOptions,
  HostRequest,
  McpConnection,
  McpConnectionState,
  McpEra,
  McpProgress,
  QuestionOptions,
  ServerNotice,
  ToolCallOptions,
  ToolCallRequest,
  ToolsPage,
} from "./connected-server.ts";
export {
  McpRequestFailure,
  McpServerFailure,
  type McpRequestFailureReason,
  type McpServerFailureReason,
} from "./failure.ts";
export { openConnection } from "./open-connection.ts";
export { parameterHeaders, SCHEMA_MAPS } from "./parameter-headers.ts";
