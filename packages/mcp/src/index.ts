// @soong/mcp: MCP servers as a source of tools, and the surface served as an MCP server.

export {
  logInToServer,
  logOutOfServer,
  McpLoginFailure,
  openMcpLogins,
  type McpLoginFailureReason,
  type McpLoginOptions,
  type McpLoginReport,
  type McpLogins,
  type McpLoginStatus,
  type StoredClient,
  type StoredLogin,
  type StoredTokens,
} from "./authorization/index.ts";
export type { HostClient, McpHost } from "./call/index.ts";
export {
  createPins,
  openPinFile,
  type PinRecord,
  type Pins,
  type PinStorage,
} from "./catalog/index.ts";
export {
  McpRequestFailure,
  McpServerFailure,
  openConnection,
  type AnswerElicitation,
  type AskedHost,
  type ConnectedServer,
  type ConnectionOptions,
  type HostRequest,
  type McpConnection,
  type McpConnectionState,
  type McpEra,
  type McpProgress,
  type McpRequestFailureReason,
  type McpServerFailureReason,
  type QuestionOptions,
  type ServerNotice,
  type ToolCallOptions,
  type ToolCallRequest,
  type ToolsPage,
} from "./connection/index.ts";
export { MCP_FACT_TEXTS } from "./facts.ts";
export type * from "./facts.ts";
export * from "./gateway/index.ts";
export * from "./settings/index.ts";
export * from "./source/index.ts";
