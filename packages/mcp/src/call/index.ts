// The call module: one request to a server, from the arguments that were judged to a result of ours. It keeps nothing
// between calls and never repeats one that may have happened.

export { askServer, type HostClient, type McpHost, type RecordHostRequest } from "./ask-server.ts";
export { callServerTool } from "./call-server-tool.ts";
export { readContent } from "./read-content.ts";
