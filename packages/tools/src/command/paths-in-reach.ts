// Restricted paths that a command could get at without naming them (PERM-15): an interpreter can open anything, and a
// tool that walks a tree opens what is in it. What a program really does cannot be judged here, so the user is asked.

import { basename, dirname, join } from "node:path";
import type { Places, Restriction, Roots } from "@soong/core";
import {
  baseName,
  hasOption,
  innerCommands,
  isPlainCommand,
  literalPrefix,
} from "@soong/core/internal";
import { readsFileList } from "./file-lists.ts";
import { repositoryAround } from "./git-arguments.ts";
import { reachOfGit } from "./git-reach.ts";
import { loadsJqFiles } from "./harmless-programs.ts";
import { listedTrees, restrictedInTrees, restrictedNamesListed } from "./listed-trees.ts";
import { canonicalPath, isWithin, isWithinRoots } from "./places-of-command.ts";
import { pathsBelow, TOO_MANY } from "./paths-below.ts";
import type { Command } from "./spelled-commands.ts";
import { isMarked, programTable } from "./programs.ts";
import { dashedLetters, isArchiving, walkedOperands, walkedTrees } from "./walked-trees.ts";
import { exists, isDirectory } from "../path/index.ts";

export interface ReachingCommand extends Command {
  /** Proven to read only, and only what its arguments name. */
  readonly read_only: boolean;
}

/** One path for each rule or guard that is in reach; none where its arguments say all it touches. */
export function pathsInReach(
  command: ReachingCommand,
  places: Pick<Places, "restrictedBy" | "restrictedGlobs" | "roots">,
): string[] {
  if (tellsOfItself(command, places.roots)) return [];
  const listed = listedTrees(command);
  const reached =
    listed === undefined
      ? restrictedBelow(() => findTrees(command), places)
      : restrictedInTrees(listed, places);
  return [...new Set([...reached, ...restrictedNamesListed(command, places)])];
}

/** Whether it shows names and no contents. */
export function listsNames(command: ReachingCommand): boolean {
  return listedTrees(command) !== undefined;
}

/** Of what such a command would show, the names that it also shows in a sandbox: masked is what is in a file or directory. */
export function namesOpenInside(
  command: ReachingCommand,
  places: Pick<Places, "restrictedBy" | "restrictedGlobs" | "roots">,
): string[] {
  const closed = places.restrictedGlobs("read").flatMap((glob) => {
    const { path, rest } = literalPrefix(glob);
    return path !== "/" && (rest === "" || rest === "**") ? [path] : [];
  });
  const isClosed = (path: string): boolean =>
    closed.some((directory) => isWithin(directory, dirname(path)));
  const shown = listsNames(command)
    ? pathsInReach(command, places)
    : restrictedNamesListed(command, places);
  return shown.filter((path) => !isClosed(path));
}

/** `npm --version`, `make --help`, of a program that the agent cannot have written. */
export function tellsOfItself(
  { argv, executable }: Pick<Command, "argv" | "executable">,
  roots: Roots,
): boolean {
  const [program = "", option = "", ...more] = argv;
  const name = baseName(program);
  if (more.length > 0 || program.includes("/") || isWithinRoots(roots, executable)) return false;
  // They start the version that the project names.
  if (/^(?:yarn|yarnpkg|pnpm|pnpx|corepack|mvn|gradle)$/.test(name)) return false;
  return (
    /^--(?:version|help)$/.test(option) || (/^(?:node|npm|npx)$/.test(name) && option === "-v")
  );
}

/** The same for anything that walks these directories. */
export function restrictedBelow(
  treesToWalk: () => readonly string[],
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] {
  const globs = restrictedGlobs("read");
  const trees = globs.length === 0 ? [] : treesToWalk();
  if (trees.length === 0) return [];
  const isRestricted = (path: string): boolean => {
    const kind = restrictedBy(path, "read")?.kind;
    return kind === "rule" || kind === "hook";
  };
  const reached = new Set<string>();
  for (const glob of globs) {
    const path = reachedBy(glob, trees, isRestricted);
    if (path !== undefined) reached.add(path);
  }
  return [...reached];
}

/** A tree in which only files of some names count. */
export interface NamedTree {
  readonly root: string;
  readonly counts?: (name: string) => boolean;
}

/** One path for each restriction on writing, of those that count, that a write to these trees could break. */
export function unwritableBelow(
  trees: readonly NamedTree[],
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
  isMeant: (restriction: Restriction) => boolean,
): string[] {
  const isRestricted = (path: string): boolean => {
    const restriction = restrictedBy(path, "write");
    return restriction !== undefined && isMeant(restriction);
  };
  const found = new Set<string>();
  for (const glob of trees.length === 0 ? [] : restrictedGlobs("write")) {
    for (const { root, counts } of trees) {
      const path = reachedBy(
        glob,
        [root],
        (one) => isRestricted(one) && counts?.(basename(one)) !== false,
        counts !== undefined,
      );
      if (path !== undefined) found.add(path);
    }
  }
  return [...found];
}

/** The directories whose contents it may get at: everything, for a program that is not known. */
function findTrees({ argv, cwd, executable, read_only }: ReachingCommand): string[] {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  if (name === "git") {
    const reach = reachOfGit({ argv, cwd, executable });
    if (reach.kind === "anything") return read_only ? [repositoryAround(cwd)] : ["/"];
    // What is tracked is looked up in the repository.
    return reach.kind === "trees" ? [...reach.trees] : [];
  }
  if (readsWalkedTrees(argv, executable)) {
    return walkedTrees({ argv, cwd, executable }).map(({ root }) => root);
  }
  const isPlain = isPlainCommand(program, executable) && !(name === "jq" && loadsJqFiles(args));
  const isKnown = isPlain || readsWhatItNames(argv, executable);
  if (!read_only && !isKnown) return ["/"];
  if (readsFileList(argv)) return ["/"];
  const table = programTable(name);
  if (!isMarked(table, "walks", args) && !isMarked(table, "changes", args)) return [];
  // Where something is put is not read.
  const into = table.marks.get("into");
  const given = into === undefined || hasOption(args, into) ? args : walkedOperands(table, args);
  const values = given.flatMap((arg) => [arg, ...(/^--[a-z-]+=(.*)$/s.exec(arg)?.slice(1) ?? [])]);
  const named = values.flatMap((arg) => canonicalPath(cwd, arg) ?? []).filter(isDirectory);
  return named.length === 0 && table.marks.has("alone") ? [cwd] : named;
}

/** `tar c` and `tar t`, and `find -exec` of a program that reads what it is given: they get at the trees they name. */
function readsWalkedTrees(argv: readonly string[], executable: string): boolean {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  const { runArguments, opaque, commands } = innerCommands(argv, executable);
  if (opaque) return false;
  if (/^(?:g|bsd)?tar$/.test(name)) {
    const dashed = dashedLetters(args);
    if (
      runArguments.length > 0 ||
      /[xT]/.test(args[0] ?? "") ||
      hasOption(dashed, "-xT|--ex*|--get*|--fil*")
    )
      return false;
    return hasOption(dashed.slice(0, 1), "-t|--list") || isArchiving(args);
  }
  if (name !== "find" || runArguments.length === 0) return false;
  if (args.some((arg) => /^-(?:execdir|okdir|files0-from)$|^--f/.test(arg))) return false;
  return commands.every(({ words }) => EXECUTED.test(words.slice(0, 2).join(" ")));
}

/** Each opens the files it is given, and walks through no directory by these options. */
const EXECUTED =
  /^(?:cat|head|tail|wc|rm|stat|touch|basename|dirname|realpath|[ef]?grep)(?: -[A-QS-Za-cefg-qs-z0-9]+| [^-].*| --)?$/s;

/** Programs that can run others, where their arguments say that this one does not. */
function readsWhatItNames(argv: readonly string[], executable: string): boolean {
  if (!/^(?:.*\/)?(?:sed|sort|rg)$/.test(argv[0] ?? "")) return false;
  const { runArguments, opaque } = innerCommands(argv, executable);
  return runArguments.length === 0 && !opaque;
}

function reachedBy(
  glob: string,
  trees: readonly string[],
  isRestricted: (path: string) => boolean,
  looksBelow = false,
): string | undefined {
  const { path, rest } = literalPrefix(glob);
  for (const tree of trees) {
    const from = isWithin(tree, path) ? path : isWithin(path, tree) ? tree : undefined;
    if (from === undefined || !exists(from)) continue;
    if (isRestricted(from)) return from;
    const isAll = rest === "" || rest === "**";
    if ((isAll && !looksBelow) || !isDirectory(from)) continue;
    for (const found of pathsBelow(from)) {
      if (found === TOO_MANY) return createSample(path, rest);
      if (isRestricted(found)) return found;
    }
  }
  return undefined;
}

/** Some path that a glob fits, where no one looks for a real one. */
export function createSample(path: string, rest: string): string {
  const names = rest.split("/").filter((name) => name !== "**" && name !== "");
  return join(
    path,
    ...names.map((name) => name.replace(/\\(.)|[*?]/g, (_, kept?: string) => kept ?? "_")),
  );
}
