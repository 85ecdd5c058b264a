// The call room: one tools/call, from the arguments that were judged to a result of ours. It keeps nothing
// between calls and never repeats one that may have happened.

export { callServerTool } from "./call-server-tool.ts";
export { failureOf } from "./failure-of.ts";
export type { HostClient, McpHost } from "./host-client.ts";
export { optionsOfCall, type RecordHostRequest } from "./options-of-call.ts";
export { readContent } from "./read-content.ts";
