// The terminal module: a screen and a keyboard for a conversation. It knows nothing of what is said there.

export { openTerminal } from "./screen-terminal.ts";
export type {
  PressedKey,
  ReadInput,
  ReadKey,
  Terminal,
  TerminalStreams,
  Typed,
} from "./terminal.ts";
