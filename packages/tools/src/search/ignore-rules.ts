// Which entries of a tree git would leave out: the ignore files of the directories above, up to the root
// of the repository, and its info/exclude. A repository inside another one has rules of its own. Outside
// any repository the ignore files of the tree itself count, all the way down.

import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { parseIgnoreFile, type IgnoreFile } from "./gitignore.ts";
import { joinDisk, readSmallFile, type DirectoryEntry, type DiskPath } from "./walked-nodes.ts";

/** The rules that hold in one directory. */
export interface IgnoreRules {
  /** The ignore files, the nearest first; they come before any exclude file. */
  readonly files: Level | undefined;
  readonly excludes: Level | undefined;
  /** Whether the walk began inside a repository. */
  readonly began: "inside" | "outside";
}

interface Level {
  readonly file: IgnoreFile;
  /** The directory the rules are relative to. */
  readonly base: string;
  readonly above: Level | undefined;
}

/** `directory` is the path for comparing; names that are not UTF-8 are replaced in it. */
export function isIgnored(
  { files, excludes }: IgnoreRules,
  directory: string,
  name: string,
  isDirectory: boolean,
): boolean {
  const verdict =
    verdictOf(files, directory, name, isDirectory) ??
    verdictOf(excludes, directory, name, isDirectory);
  return verdict === "ignored";
}

/** The rules inside a directory whose entries are known. */
export function rulesInside(
  outer: IgnoreRules,
  directory: { readonly path: string; readonly disk: DiskPath },
  entries: readonly DirectoryEntry[],
): IgnoreRules {
  const { path, disk } = directory;
  let { files, excludes } = outer;
  const { began } = outer;
  const names = new Set(entries.map(({ name }) => name));
  if (names.has(".git")) {
    if (began === "inside") files = undefined;
    excludes = withExcludeFile(began === "inside" ? undefined : excludes, path, disk);
  }
  if (names.has(".gitignore")) files = withIgnoreFile(files, path, disk);
  return { files, excludes, began };
}

/** The rules that hold for a directory because of what is above it. */
export function rulesAbove(directory: string): IgnoreRules {
  const repository = repositoryRoot(directory);
  if (repository === undefined) return { files: undefined, excludes: undefined, began: "outside" };
  let files: Level | undefined;
  for (const path of directoriesBetween(repository, directory)) {
    files = withIgnoreFile(files, path, path);
  }
  const excludes = withExcludeFile(undefined, repository, repository);
  return { files, excludes, began: "inside" };
}

/** The nearest directory, itself or above, that is the root of a repository. */
export function repositoryRoot(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return at;
    if (at === "/") return undefined;
  }
}

/** More than any list of rules that people keep; a larger file is left unread. */
const MOST_BYTES = 1024 * 1024;

/** From the upper one on, without the lower one. */
function directoriesBetween(upper: string, lower: string): string[] {
  const directories: string[] = [];
  for (let at = lower; at !== upper;) {
    at = dirname(at);
    directories.unshift(at);
  }
  return directories;
}

function verdictOf(
  levels: Level | undefined,
  directory: string,
  name: string,
  isDirectory: boolean,
): "ignored" | "kept" | undefined {
  for (let level = levels; level !== undefined; level = level.above) {
    const { base, file } = level;
    const path = (): string => joinPath(directory, name).slice(base === "/" ? 1 : base.length + 1);
    const verdict = file.verdict(name, path, isDirectory);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function withIgnoreFile(above: Level | undefined, base: string, disk: DiskPath): Level | undefined {
  return withRules(above, base, joinDisk(disk, ".gitignore"));
}

function withExcludeFile(
  above: Level | undefined,
  base: string,
  disk: DiskPath,
): Level | undefined {
  return withRules(above, base, joinDisk(joinDisk(gitDirectory(disk), "info"), "exclude"));
}

function withRules(above: Level | undefined, base: string, place: DiskPath): Level | undefined {
  const text = readSmallFile(place, MOST_BYTES);
  const file = text === undefined ? undefined : parseIgnoreFile(text);
  return file === undefined ? above : { file, base, above };
}

/** A linked worktree has a file that leads to its own directory, and from there to the shared one. */
function gitDirectory(repository: DiskPath): DiskPath {
  const git = joinDisk(repository, ".git");
  const link = /^gitdir: (.+)/.exec(readSmallFile(git, MOST_BYTES) ?? "")?.[1];
  if (link === undefined) return git;
  const own = isAbsolute(link) ? link : join(repository.toString(), link);
  const common = readSmallFile(join(own, "commondir"), MOST_BYTES)?.trim();
  if (common === undefined) return own;
  return isAbsolute(common) ? common : join(own, common);
}

function joinPath(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}
