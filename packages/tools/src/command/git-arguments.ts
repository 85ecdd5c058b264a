// The arguments of git before and behind the name of its subcommand.

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
  readonly workTree?: string;
}

/** `args` are those behind `git`. */
export function gitArguments(args: readonly string[]): GitArguments {
  const directories: string[] = [];
  let at = 0;
  for (; at < args.length && args[at]?.startsWith("-") === true; at += 1) {
    if (!TAKES_NEXT.test(args[at] ?? "")) continue;
    if (args[at] === "-C") directories.push(args[at + 1] ?? ".");
    at += 1;
  }
  const [subcommand = "", ...rest] = args.slice(at);
  const options = args.slice(0, at);
  const workTree = workTreeIn(options);
  return {
    options,
    subcommand,
    rest,
    directories,
    ...(workTree === undefined ? {} : { workTree }),
  };
}

function workTreeIn(options: readonly string[]): string | undefined {
  const named = options.flatMap((option, index) => {
    if (option === "--work-tree") return [options[index + 1] ?? "."];
    return /^--work-tree=(.*)$/s.exec(option)?.slice(1) ?? [];
  });
  const hasOtherDirectory = options.some((option) => /^--git-dir(?:=|$)/.test(option));
  return named.at(-1) ?? (hasOtherDirectory ? "." : undefined);
}

const TAKES_NEXT =
  /^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--attr-source|--super-prefix)$/;

/** These use no repository that is there already. */
const WITHOUT_REPOSITORY: ReadonlySet<string> = new Set(
  "clone init init-db version help --version --help".split(" "),
);

/** From where git looks for its repository; undefined where it looks for none. */
export function directoryOfGit(
  [program = "", ...args]: readonly string[],
  cwd: string,
): string | undefined {
  if (program.slice(program.lastIndexOf("/") + 1) !== "git") return undefined;
  const { options, subcommand, directories } = gitArguments(args);
  if ([...options, subcommand].some((word) => WITHOUT_REPOSITORY.has(word))) return undefined;
  return directories.reduce((at, one) => canonicalPath(at, one) ?? at, cwd);
}
