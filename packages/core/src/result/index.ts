// The result module: from whatever a handler gave to the one ToolResult, bounded and redacted once, and
// the three views of it. Touches nothing but the artifact store it is handed.

export * from "./bound-result.ts";
export * from "./head-tail.ts";
export * from "./map-result.ts";
export * from "./read-return.ts";
export { exactLine, exactText, visible, visibleJson, visibleLine } from "./visible.ts";
