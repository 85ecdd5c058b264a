// @soong/mcp: MCP servers as a source of tools, and the surface served as an MCP server.

export {
  logInToServer,
  logOutOfServer,
  type McpLoginOptions,
  type McpLoginReport,
} from "./authorization/log-in.ts";
export { McpLoginFailure, type McpLoginFailureReason } from "./authorization/login-failure.ts";
export {
  openMcpLogins,
  type McpLogins,
  type McpLoginStatus,
  type StoredClient,
  type StoredLogin,
  type StoredTokens,
} from "./authorization/logins.ts";
export type { HostClient, McpHost } from "./call/ask-server.ts";
export {
  createPins,
  openPinFile,
  type PinRecord,
  type Pins,
  type PinStorage,
} from "./catalog/pins.ts";
export {
  McpRequestFailure,
  McpServerFailure,
  type McpRequestFailureReason,
  type McpServerFailureReason,
} from "./connection/failure.ts";
export { openConnection } from "./connection/open-connection.ts";
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
} from "./connection/connected-server.ts";
export { MCP_FACT_TEXTS } from "./facts.ts";
export type * from "./facts.ts";
export * from "./gateway/broker.ts";
export * from "./gateway/client-runs.ts";
export * from "./gateway/serve-http.ts";
export * from "./gateway/serve-stdio.ts";
export * from "./settings/index.ts";
export * from "./source/open-mcp-servers.ts";
export * from "./source/server-source.ts";
