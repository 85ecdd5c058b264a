// Whether the repository a git command would find is harmless (CMD-4). Its own config can name programs
// (fsmonitor, filters, textconv, gpg) that a mere `git status` starts, and so can that of a submodule: git
// is proven read-only where every config holds nothing but keys known to do nothing of the kind.

import { lstatSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isHarmlessGitConfig } from "./git-config.ts";

export function repositoryOf(cwd: string): "harmless" | "none" | "doubtful" {
  try {
    const gitDirectory = findGitDirectory(cwd);
    if (gitDirectory === undefined) return "none";
    return isHarmless(gitDirectory) ? "harmless" : "doubtful";
  } catch {
    return "doubtful";
  }
}

/** As git looks for it: `.git` in the directory or any above it. Throws where git might see it otherwise. */
function findGitDirectory(cwd: string): string | undefined {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const place = join(directory, ".git");
    const entry = entryAt(place);
    if (entry?.isDirectory() === true) return place;
    if (entry?.isFile() === true) return linkedGitDirectory(place);
    if (entry !== undefined) throw new Error(`${place} is neither a directory nor a file`);
    // A directory that looks like the inside of a repository is one to git, with a config of its own.
    if (entryAt(join(directory, "HEAD")) !== undefined) throw new Error(`${directory} may be bare`);
    if (directory === dirname(directory)) return undefined;
  }
}

/** A worktree or submodule: the `.git` file says where the directory is. */
function linkedGitDirectory(place: string): string {
  const [, target] = /^gitdir: ([^\n\0]+)\n?$/.exec(readText(place)) ?? [];
  if (target === undefined) throw new Error(`${place} is not understood`);
  return resolve(dirname(place), target);
}

function isHarmless(gitDirectory: string): boolean {
  const common = commonDirectory(gitDirectory);
  if (!isGitDirectory(gitDirectory, common)) return false;
  const directories = common === gitDirectory ? [common] : [gitDirectory, common];
  const configs = directories.flatMap((directory) => [
    join(directory, "config"),
    join(directory, "config.worktree"),
  ]);
  return (
    configs.every((path) => entryAt(path) === undefined || isHarmlessGitConfig(readText(path))) &&
    !hasSubmodules(gitDirectory)
  );
}

/** What is not one to git, it passes by, and looks for another further up. */
function isGitDirectory(gitDirectory: string, common: string): boolean {
  const head = readText(join(gitDirectory, "HEAD"));
  return (
    /^(?:ref: refs\/[^\s\0]+|[0-9a-f]{40}|[0-9a-f]{64})\n$/.test(head) &&
    ["objects", "refs"].every((name) => entryAt(join(common, name))?.isDirectory() === true)
  );
}

function commonDirectory(gitDirectory: string): string {
  const place = join(gitDirectory, "commondir");
  if (entryAt(place) === undefined) return gitDirectory;
  return resolve(gitDirectory, readText(place).replace(/[\r\n]+$/, ""));
}

/** The mode of a submodule in an index; the bytes may mean something else, which costs one question. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);
/** Marks an index that leaves entries out. */
const SPARSE_INDEX = Buffer.from("sdir");

/** Git starts itself in every submodule, where the config of that one holds. */
function hasSubmodules(gitDirectory: string): boolean {
  const names = readdirSync(gitDirectory);
  if (names.some((name) => name.startsWith("sharedindex."))) return true;
  if (!names.includes("index")) return false;
  const index = readBytes(join(gitDirectory, "index"), MOST_INDEX_BYTES);
  return index.includes(SUBMODULE_MODE) || index.includes(SPARSE_INDEX);
}

const MOST_TEXT_BYTES = 256 * 1024;
const MOST_INDEX_BYTES = 32 * 1024 * 1024;

function readText(path: string): string {
  return readBytes(path, MOST_TEXT_BYTES).toString("utf8");
}

function readBytes(path: string, mostBytes: number): Buffer {
  const entry = entryAt(path);
  if (entry?.isFile() !== true || entry.size > mostBytes) {
    throw new Error(`${path} is no file of ordinary size`);
  }
  return readFileSync(path);
}

/** Links are not followed: git would, to wherever they lead. */
function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
