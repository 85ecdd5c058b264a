// The gateway room: the surface of a session, served to other agents as an MCP server. Every call goes
// through the session's own pipeline; nothing is decided here.

export { createGatewayDesk, type GatewayDesk, type GatewayDeskOptions } from "./desk.ts";
export type { GatewayOptions } from "./gateway.ts";
export { serveGatewayHttp, type GatewayHttpOptions, type ServedHttp } from "./serve-http.ts";
export { serveGatewayStdio, type GatewayStdioOptions, type ServedStdio } from "./serve-stdio.ts";
