// What a command runs: the commands inside its arguments, and which programs run nothing else.

export { innerCommands, isSimpleSedScript } from "./inner-commands.ts";
export type { InnerCommands, KnownCommand } from "./known-command.ts";
export { isOfTheSystem, isPlainCommand, isReadingProgram } from "./plain-programs.ts";
export { isHarmlessGitKey } from "./git-commands.ts";
export { readGitConfigArguments } from "./git-config-arguments.ts";
export { mergeInner, NOT_UNDERSTOOD } from "./known-command.ts";
