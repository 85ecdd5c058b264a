// The catalog module: what a server lists, made into tools of ours, and which definitions were allowed. It
// asks the server for its list and calls nothing.

export {
  buildCatalog,
  canonicalName,
  HANDLER_TIMEOUT_MS,
  hostTargets,
  mayRunBeside,
  type Catalog,
  type HandlerFor,
} from "./build-catalog.ts";
export { listPages, listTools, type ListedTools, type ServerTool } from "./list-tools.ts";
export {
  createPins,
  definitionHash,
  openPinFile,
  type PinRecord,
  type Pins,
  type PinStorage,
} from "./pins.ts";
export { isSafe, safeLine, safeSchema, safeText } from "./safe-text.ts";
