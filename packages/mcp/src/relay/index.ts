// The relay module: what servers have beside tools (prompts, resources, completion, logging), found, bounded and
// kept up to date for the gateway. Reading a resource and getting a prompt are calls like any other.

export {
  LOG_LEVELS,
  openRelay,
  rankOfLevel,
  type MayCall,
  type Relay,
  type RelayChange,
  type RelayTarget,
} from "./relay.ts";
export { isRelayTool, splitMessages } from "./relay-tools.ts";
