// The call module: one tools/call, from the arguments that were judged to a result of ours. It keeps nothing
// between calls and never repeats one that may have happened.

export { callServerTool } from "./call-server-tool.ts";
export { toToolFailure } from "./call-failure.ts";
export type { HostClient, McpHost } from "./host-client.ts";
export { awaitOnCancel, callOptions, type RecordHostRequest } from "./call-options.ts";
export { readContent } from "./read-content.ts";
