// The gateway module: the surface of a session, served to other agents as an MCP server. Every call goes
// through the session's own pipeline; nothing is decided here.

export { createGatewayBroker, type GatewayBroker, type GatewayBrokerOptions } from "./broker.ts";
export type { GatewayOptions } from "./client-runs.ts";
export { serveGatewayHttp, type GatewayHttpOptions, type ServedHttp } from "./serve-http.ts";
export { serveGatewayStdio, type GatewayStdioOptions, type ServedStdio } from "./serve-stdio.ts";
