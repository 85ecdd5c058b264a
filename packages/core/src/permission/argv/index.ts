// What a command runs: the commands inside its arguments, and which programs run nothing else.

export { innerCommands } from "./inner-commands.ts";
export type { InnerCommands, KnownCommand } from "./known-command.ts";
export { isPlainCommand } from "./plain-programs.ts";
