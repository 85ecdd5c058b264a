// The relay module: what servers have beside tools (prompts, resources, completion, logging), found, bounded and
// kept up to date for the gateway. Reading a resource and getting a prompt are calls like any other.

export { openRelay } from "./relay.ts";
export type { MayCall, Relay, RelayChange } from "./relay-types.ts";
export { isRelayTool, LOG_LEVELS, rankOfLevel } from "./relay-types.ts";
export { relayedMessages } from "./relayed-messages.ts";
export type { ListedPrompt, ListedResource, ListedTemplate } from "./listed-items.ts";
