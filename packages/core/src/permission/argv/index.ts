// What a command runs: the commands inside its arguments, and which programs run nothing else; and how options are read.

export { coveringPrefixes, findPrefix } from "./command-prefix.ts";
export { innerCommands, isSimpleSedScript } from "./inner-commands.ts";
export type { InnerCommands, KnownCommand } from "./known-command.ts";
export { isOfTheSystem, isPlainCommand, isReadingProgram } from "./plain-programs.ts";
export { isHarmlessGitKey, readGitConfigArguments } from "./git-commands.ts";
export { mergeInner, NOT_UNDERSTOOD } from "./known-command.ts";
export {
  hasOption,
  optionTable,
  optionValues,
  readArguments,
  type FoundOption,
  type OptionTable,
  type ReadArguments,
} from "./options.ts";
