// Which restricted files a git command could get at without naming them (PERM-15). Most show or change nothing but history and names of
// branches; those that show or write files know only what the repository tracks; a few walk through directories.

import { join } from "node:path";
import { innerCommands } from "@soong/core/internal";
import { gitDoes } from "./git-table.ts";
import { directoryOfGit, gitArguments, repositoryAround } from "./git-arguments.ts";
import type { Command } from "./spelled-commands.ts";
import { canonicalPath } from "./places-of-command.ts";
import { exists, lookAt } from "../path/index.ts";

export type GitReach =
  | { readonly kind: "nothing" }
  /** What the index or any commit holds, below these paths if there are any. */
  | { readonly kind: "tracked"; readonly below?: readonly string[] }
  | { readonly kind: "trees"; readonly trees: readonly string[] }
  | { readonly kind: "anything" };

export function reachOfGit({ argv, cwd, executable }: Command): GitReach {
  const { runArguments, opaque } = innerCommands(argv, executable);
  // It runs something else, too.
  if (runArguments.length > 0 || opaque) return { kind: "anything" };
  const [name, args] = readSubcommand(argv);
  const directory = directoryOfGit(argv, cwd) ?? cwd;
  const has = (option: RegExp): boolean => args.some((arg) => option.test(arg));
  const options = Object.hasOwn(SHOWS_FILES_WITH, name) ? SHOWS_FILES_WITH[name] : undefined;
  // As `git status` does, it names what is not tracked.
  if (name === "clean" && isDryRun(args)) return { kind: "nothing" };
  if (Object.hasOwn(WALKS_WITH, name) && WALKS_WITH[name]?.some(has) === true) {
    return {
      kind: "trees",
      trees: directoriesIn(args, directory) ?? [repositoryAround(directory)],
    };
  }
  if (name === "mv") return { kind: "trees", trees: directoriesIn(args, directory) ?? [] };
  if (isAboutHistoryAlone(name, args) || isNewBranch(name, args)) return { kind: "nothing" };
  if (gitDoes(name, "refs")) {
    return options !== undefined && has(options) ? { kind: "tracked" } : { kind: "nothing" };
  }
  if (!gitDoes(name, "tracked")) return { kind: "anything" };
  const below = has(/^--fol/) ? undefined : pathspecsIn(name, args, directory);
  return { kind: "tracked", below };
}

/** By name, where an option shows files after all. */
const SHOWS_FILES_WITH: Readonly<Record<string, RegExp>> = {
  status: /^-[a-zA-Z]*v|^--verb/,
  add: /^-[a-zA-Z]*[pie]|^--(?:pat|int|ed)/,
  commit: /^-[a-zA-Z]*[pv]|^--(?:pat|verb|int)/,
  config: /^-e$|^--(?:ed|blob)/,
  // What has no name would have one, or be a file.
  tag: /^[0-9a-fA-F]{4,}$/,
  fsck: /^--lo/,
};

/** With one of these, files are found in directories, tracked or not. */
const WALKS_WITH: Readonly<Record<string, readonly RegExp[]>> = {
  status: [/^-[a-zA-Z]*u(?!no)|^--(?:untr(?!.*=(?:no|normal)$)|ign)/],
  clean: [/^/],
  stash: [/^-[a-zA-Z]*[ua]|^--(?:incl|all)/],
  "ls-files": [/^-[a-zA-Z]*[oi]|^--(?:oth|ign)/],
  diff: [/^--no-ind/],
  grep: [/^--(?:no-ind|untr)/],
};

function isDryRun(args: readonly string[]): boolean {
  const options = args.filter((arg) => arg.startsWith("-"));
  return (
    options.some((arg) => /^(?:-[a-z]*n[a-z]*|--dry-run)$/.test(arg)) &&
    options.every((arg) => /^(?:-[dfnq]+|--dry-run|--quiet)$/.test(arg))
  );
}

/** `git log` and the like, where every option only chooses commits or how they are written. */
function isAboutHistoryAlone(name: string, args: readonly string[]): boolean {
  const isList = name === "stash" && args[0] === "list";
  if (!isList && !/^(?:log|rev-list|reflog)$/.test(name)) return false;
  const end = args.indexOf("--");
  return args
    .slice(0, end === -1 ? args.length : end)
    .every((arg) => !arg.startsWith("-") || CHOOSES_COMMITS.test(arg));
}

const CHOOSES_COMMITS =
  /^(?:-\d+|-n\d*|-[iEFPgsz]|--(?:oneline|graph|all|(?:no-)?decorate|(?:no-)?abbrev-commit|abbrev|max-count|skip|format|pretty|date|relative-date|since|after|until|before|author|committer|grep|all-match|invert-grep|regexp-ignore-case|reverse|merges|no-merges|first-parent|branches|tags|remotes|topo-order|date-order|author-date-order|left-right|left-only|right-only|cherry|cherry-pick|cherry-mark|count|no-patch|no-color|color|no-notes|no-walk|show-signature|parents|children|boundary|simplify-by-decoration|full-history|walk-reflogs|quiet|not)(?:=.*)?)$/s;

/** `git checkout -b name`, `git switch -c name`: no file changes. */
function isNewBranch(name: string, args: readonly string[]): boolean {
  const create = name === "checkout" ? /^-b$/ : /^(?:-c|--create)$/;
  if (name !== "checkout" && name !== "switch") return false;
  const rest = args.filter((arg) => !/^(?:-q|--quiet|--no-track)$/.test(arg));
  return rest.length === 2 && create.test(rest[0] ?? "") && !(rest[1] ?? "-").startsWith("-");
}

/** Plain paths behind `--`, or at the end of `git diff`, `log` and `show`; undefined where all files are meant. */
function pathspecsIn(
  name: string,
  args: readonly string[],
  directory: string,
): string[] | undefined {
  const end = args.indexOf("--");
  const isPath = (arg: string): boolean =>
    exists(canonicalPath(directory, arg) ?? join(directory, arg));
  const first =
    end === -1 ? args.length - args.toReversed().findIndex((arg) => !isPath(arg)) : end + 1;
  const from = end === -1 && args.every(isPath) ? 0 : first;
  if (end === -1 && !/^(?:diff|log|show)$/.test(name)) return undefined;
  // The word before could take what follows for its value.
  const before = args[end === -1 ? from - 1 : end - 1] ?? "";
  if (before.startsWith("-") && !TAKES_NO_VALUE.test(before)) return undefined;
  const given = args.slice(from);
  const paths = given.flatMap((arg) =>
    /^:|^-|[*?[\]\\]/.test(arg) ? [] : (canonicalPath(directory, arg) ?? []),
  );
  return given.length > 0 && paths.length === given.length ? paths : undefined;
}

const TAKES_NO_VALUE =
  /^(?:-\d+|-[pubwsz]+|-U\d+|--(?:stat|shortstat|numstat|name-only|name-status|cached|staged|patch|oneline|no-color|color|word-diff|ignore-all-space|summary|raw|exit-code|quiet|merge-base)|--[a-z-]+=.*)$/s;

/** Undefined where no argument is one. */
function directoriesIn(args: readonly string[], directory: string): string[] | undefined {
  const named = args
    .flatMap((arg) => canonicalPath(directory, arg) ?? [])
    .filter((path) => lookAt(path)?.isDirectory() === true);
  return named.length === 0 ? undefined : named;
}

/** Its name and what follows it. */
export function readSubcommand(argv: readonly string[]): [string, readonly string[]] {
  const { subcommand, rest } = gitArguments(argv.slice(1));
  return subcommand === "" ? ["version", []] : [subcommand, rest];
}
