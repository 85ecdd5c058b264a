// The authorization module: logins to remote servers (MCP-8). Who issues a server's tokens, how the user gets one,
// where it is kept, and how it is renewed. It sends nothing to a server but the question whether it wants one.

export { createAccessTokens, type AccessTokens, type Refusal } from "./access-tokens.ts";
export { logInToServer, type McpLoginOptions, type McpLoginReport } from "./log-in.ts";
export { logOutOfServer } from "./log-out.ts";
export { McpLoginFailure, type McpLoginFailureReason } from "./login-failure.ts";
export { openMcpLogins, type McpLogins, type McpLoginStatus } from "./logins.ts";
export { serverLine } from "./server-line.ts";
export type { StoredClient, StoredLogin, StoredTokens } from "./stored-login.ts";
