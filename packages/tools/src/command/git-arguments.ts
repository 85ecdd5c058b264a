// The arguments of git before and behind the name of its subcommand.

import { dirname, join } from "node:path";
import { optionTable, readArguments } from "@soong/core/internal";
import { existsThroughLinks } from "../path/index.ts";
import { gitDoes } from "./git-table.ts";
import { canonicalPath } from "./places-of-command.ts";

export interface GitArguments {
  /** Global options with their values. */
  readonly options: readonly string[];
  /** Empty where none is named. */
  readonly subcommand: string;
  readonly rest: readonly string[];
  /** The values of `-C`: each leads on from the one before. */
  readonly directories: readonly string[];
  /** Where another place than the repository around it is named for the files; the current directory with another git directory. */
  readonly workTree: string | undefined;
}

/** `args` are those behind `git`. */
export function gitArguments(args: readonly string[]): GitArguments {
  const table = optionTable(GLOBAL);
  const { options: found, at } = readArguments(table, args, { stops: true, names: "lenient" });
  const valuesOf = (option: string): string[] =>
    found.filter(({ name }) => name === option).map(({ value = "." }) => value);
  const [subcommand = "", ...rest] = args.slice(at);
  const hasOtherDirectory = valuesOf("--git-dir").length > 0;
  return {
    options: args.slice(0, at),
    subcommand,
    rest,
    directories: valuesOf("-C"),
    workTree: valuesOf("--work-tree").at(-1) ?? (hasOtherDirectory ? "." : undefined),
  };
}

const GLOBAL =
  "-Cc|--git-dir|--work-tree|--namespace|--config-env|--attr-source|--super-prefix=value";

/** From where git looks for its repository; undefined where it looks for none. */
export function directoryOfGit(
  [program = "", ...args]: readonly string[],
  cwd: string,
): string | undefined {
  if (program.slice(program.lastIndexOf("/") + 1) !== "git") return undefined;
  const { options, subcommand, directories } = gitArguments(args);
  if ([...options, subcommand].some((word) => gitDoes(word, "outside"))) return undefined;
  return directories.reduce((at, one) => canonicalPath(at, one) ?? at, cwd);
}

/** The directory of the repository around it; itself where there is none. */
export function repositoryAround(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsThroughLinks(join(at, ".git"))) return at;
    if (at === dirname(at)) return directory;
  }
}
