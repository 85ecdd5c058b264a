// The authorization module: logins to remote servers (MCP-8). Who issues a server's tokens, how the user gets one,
// where it is kept, and how it is renewed. It sends nothing to a server but the question whether it wants one.

export { createAccessTokens, type AccessTokens, type Refusal } from "./access-tokens.ts";
export {
  logInToServer,
  logOutOfServer,
  type McpLoginOptions,
  type McpLoginReport,
} from "./log-in.ts";
export { McpLoginFailure, serverLine, type McpLoginFailureReason } from "./login-failure.ts";
export {
  openMcpLogins,
  type McpLogins,
  type McpLoginStatus,
  type StoredClient,
  type StoredLogin,
  type StoredTokens,
} from "./logins.ts";
