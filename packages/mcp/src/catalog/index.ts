// The catalog module: what a server lists, made into tools of ours, and which definitions were allowed. It
// asks the server for its list and calls nothing.

export { buildCatalog, type Catalog } from "./build-catalog.ts";
export { listTools, type ListedTools } from "./list-tools.ts";
export { createPins, definitionHash, type PinRecord, type Pins, type PinStorage } from "./pins.ts";
export { isSafe, safeLine, safeSchema, safeText } from "./safe-text.ts";
export { type ServerTool } from "./server-tool.ts";
export {
  canonicalName,
  HANDLER_TIMEOUT_MS,
  hostTargets,
  mayRunBeside,
  type HandlerOf,
} from "./tool-definition.ts";
