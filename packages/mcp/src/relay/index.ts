// The relay room: what servers have beside tools (prompts, resources, completion, logging), found, bounded and
// kept up to date for whoever serves it on. Reading a resource and getting a prompt are calls like any other.

export { openRelay } from "./relay.ts";
export type { MayCall, Relay, RelayChange } from "./relay-types.ts";
export { isRelayTool } from "./relay-name.ts";
export { relayedMessages } from "./relayed-messages.ts";
export type { ListedPrompt, ListedResource, ListedTemplate } from "./listed-items.ts";
