// What of a repository a command in the sandbox may write (CMD-6): enough for `git commit`, and nothing by which git runs a
// program later, outside: hooks, config, and the files that lead git to another config or other hooks.

import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "@soong/core/internal";
import {
  entriesOf,
  isDirectory as isFolder,
  lookAt,
  placesRanByConfig,
  readSmall,
  settingsNamed,
} from "../path/index.ts";
import { listDirectory } from "./look-through.ts";

export interface GitPlaces {
  /** Outside the writable places: what a commit writes. */
  readonly writable: readonly string[];
  /** What it reads beside. */
  readonly readable: readonly string[];
  /** To be kept as they are: also those that are not there. */
  readonly guarded: readonly string[];
  /** The files of its config, which may hold a password. */
  readonly configs: readonly string[];
}

/** `git`: the `.git` of a work tree, or a bare repository, in a writable place. */
export function findGitPlaces(git: string, writable: readonly string[]): GitPlaces {
  const kind = lookAt(git);
  // A link cannot be kept in its place; where it is replaced, that is noticed afterwards.
  if (kind?.isSymbolicLink() === true) return NOTHING;
  // An empty directory keeps the name free for another command.
  const isDirectory = kind?.isDirectory() === true && !isEmpty(git);
  if (!isDirectory && kind?.isFile() !== true) {
    // Nor may the directory itself become a repository: git looks for this name next.
    return { ...NOTHING, guarded: [git, join(dirname(git), "HEAD")] };
  }
  const isOpen = (path: string): boolean => writable.some((root) => isWithin(root, path));
  const beside = basename(git) === ".git" ? placesRanByConfig(dirname(git)).filter(isOpen) : [];
  if (isDirectory) return guard(git, insideOf(git), beside);
  const directory = linkedDirectory(git);
  if (directory === undefined) return { ...NOTHING, guarded: [git, ...beside] };
  if (isOpen(directory)) return guard(directory, insideOf(directory), [git, ...beside]);
  const { outside, guarded } = openLinked(git, directory);
  return { ...guard(directory, guarded, [git, ...beside]), ...outside };
}

const NOTHING: GitPlaces = { writable: [], readable: [], guarded: [], configs: [] };

/** A link cannot be kept in its place: where one of the names is a link, nothing of the git directory is written. */
function guard(directory: string, inside: readonly string[], beside: readonly string[]): GitPlaces {
  const hasLinks = inside.some((path) => lookAt(path)?.isSymbolicLink() === true);
  return {
    ...NOTHING,
    guarded: [...(hasLinks ? [directory] : inside), ...beside],
    configs: inside.filter((path) => basename(path) === "config" && lookAt(path) !== undefined),
  };
}

export function isEmpty(directory: string): boolean {
  for (const _ of entriesOf(directory)) return false;
  return true;
}

/** The names in a git directory by which git comes to run something, whether they are there or not. */
function insideOf(directory: string): string[] {
  const own = GUARDED.map((name) => join(directory, name));
  if (readsOwnConfig(directory)) own.push(join(directory, "config.worktree"));
  const linked = directoriesIn(join(directory, "worktrees")).flatMap((path) =>
    isClosed(path)
      ? [path]
      : ["commondir", "gitdir", "config.worktree"]
          .map((file) => join(path, file))
          .filter((file) => lookAt(file) !== undefined),
  );
  const modules = modulesIn(join(directory, "modules"));
  return [
    ...own,
    ...linked,
    ...modules.flatMap((path) => (isClosed(path) ? [path] : insideOf(path))),
  ];
}

const GUARDED = ["config", "hooks", "commondir"];

/** Git directories of submodules, and directories that may hold some; the name of one may have slashes. */
function modulesIn(directory: string, depth = 3): string[] {
  return directoriesIn(directory).flatMap((path) => {
    if (isClosed(path) || lookAt(join(path, "HEAD")) !== undefined) return [path];
    return depth === 0 ? [] : modulesIn(path, depth - 1);
  });
}

/** Itself where it cannot be listed. */
function directoriesIn(directory: string): string[] {
  const entries = listDirectory(directory);
  if (entries === undefined) return [directory];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
}

/** Its owner can open it, and a command may be that: it is kept as a whole. */
function isClosed(directory: string): boolean {
  return listDirectory(directory) === undefined;
}

/** That a `.git` file names. */
export function linkedDirectory(git: string): string | undefined {
  const [, target] = /^gitdir: (.+)\n?$/.exec(readText(git)) ?? [];
  return target === undefined ? undefined : canonical(dirname(git), target);
}

/**
 * A `.git` file can name any directory; the project may have written it. Only what is written outside of it proves that the
 * directory belongs to this work tree: `gitdir` of a linked work tree, `core.worktree` of a submodule.
 */
function openLinked(git: string, directory: string): OpenedLink {
  const shared = readText(join(directory, "commondir")).trimEnd();
  if (shared === "") {
    const [named] = settingsNamed("worktree", join(directory, "config"));
    const isOurs = named !== undefined && canonical(directory, named) === dirname(git);
    if (!isOurs) return NOT_OURS;
    const configs = [join(directory, "config")];
    const outside = { writable: [directory], readable: [], configs };
    return { outside, guarded: insideOf(directory) };
  }
  const common = canonical(directory, shared);
  const back = resolve(directory, readText(join(directory, "gitdir")).trimEnd());
  const isOurs =
    common !== undefined &&
    dirname(directory) === join(common, "worktrees") &&
    basename(back) === ".git" &&
    canonical(dirname(back), ".") === dirname(git);
  if (!isOurs) return NOT_OURS;
  const written = ["objects", "refs", "logs", "reftable"].map((name) => join(common, name));
  const names = ["commondir", "gitdir", ...(readsOwnConfig(common) ? ["config.worktree"] : [])];
  return {
    outside: {
      writable: [directory, ...written.filter((path) => lookAt(path)?.isDirectory() === true)],
      readable: [common],
      configs: [join(common, "config")],
    },
    guarded: names.map((name) => join(directory, name)),
  };
}

interface OpenedLink {
  readonly outside: Pick<GitPlaces, "writable" | "readable" | "configs">;
  readonly guarded: readonly string[];
}

const NOT_OURS: OpenedLink = {
  outside: { writable: [], readable: [], configs: [] },
  guarded: [],
};

/** Git reads `config.worktree` only where the config, which is fixed, says so. */
function readsOwnConfig(common: string): boolean {
  return /worktreeconfig/i.test(readText(join(common, "config")));
}

/** Of an existing directory. */
function canonical(from: string, given: string): string | undefined {
  try {
    const path = realpathSync(resolve(from, given));
    return isFolder(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Empty for what is no small plain file. */
function readText(path: string): string {
  return readSmall(path, MOST_BYTES)?.toString("utf8") ?? "";
}

const MOST_BYTES = 256 * 1024;
