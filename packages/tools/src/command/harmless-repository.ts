// Whether the repository a git command would use is harmless (CMD-4). Its own config can name programs
// (fsmonitor, filters, textconv, gpg) that a mere `git status` starts, and so can that of a submodule: git
// is proven read-only where every config holds nothing but keys known to do nothing of the kind. Git is then
// given the path of that repository (CMD-7): it looks for none, so it cannot find another.

import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { isHarmlessGitConfig } from "./git-config.ts";

export type CheckedRepository =
  | {
      readonly kind: "harmless";
      /** All of them canonical. */
      readonly git_dir: string;
      readonly common_dir: string;
      readonly work_tree: string;
    }
  | { readonly kind: "none" }
  /** Why, as a clause. */
  | { readonly kind: "doubtful"; readonly why: string };

export function checkRepository(cwd: string): CheckedRepository {
  try {
    const found = findGitDirectory(cwd);
    if (found === undefined) return { kind: "none" };
    const { git_dir } = found;
    const common_dir = commonDirectory(git_dir);
    checkGitDirectory(git_dir, common_dir);
    const elsewhere = fileFromElsewhere({ git_dir, common_dir });
    if (elsewhere !== undefined) throw new Unproven(elsewhere);
    checkConfigs(git_dir, common_dir);
    checkSubmodules(git_dir);
    return { kind: "harmless", ...found, common_dir };
  } catch (error) {
    return { kind: "doubtful", why: describeDoubt(error) };
  }
}

export interface LocatedRepository {
  readonly git_dir: string;
  readonly common_dir: string;
  /** The files of its config. */
  readonly configs: readonly string[];
}

/** Where git would find a repository from here; a clause where that is unknown. */
export function locateRepository(cwd: string): LocatedRepository | string | undefined {
  try {
    const found = findGitDirectory(cwd);
    if (found === undefined) return undefined;
    const { git_dir } = found;
    const common_dir = commonDirectory(git_dir);
    return { git_dir, common_dir, configs: listConfigs(git_dir, common_dir) };
  } catch (error) {
    return describeDoubt(error);
  }
}

/**
 * A file of the repository that is one of another place, as a clause: git prints lines of its files where it does not understand
 * them, and some of them anyway (PERM-15). Objects are printed only if they are some; hooks are not printed.
 */
export function fileFromElsewhere(
  { git_dir, common_dir }: Pick<LocatedRepository, "git_dir" | "common_dir">,
  mostEntries = MOST_ENTRIES,
): string | undefined {
  const directories = [...new Set([git_dir, common_dir])];
  for (let count = 0; ;) {
    const directory = directories.pop();
    if (directory === undefined) return undefined;
    const names = namesIn(directory);
    if (names === undefined) return `${quotePath(directory)} cannot be read`;
    for (const name of names) {
      const path = join(directory, name);
      const entry = NOT_PRINTED.test(path) ? undefined : entryAt(path);
      if (entry === undefined) continue;
      count += 1;
      if (count > mostEntries) return `${quotePath(git_dir)} has more than ${mostEntries} entries`;
      if (entry.isSymbolicLink()) return `${quotePath(path)} is a link`;
      if (entry.isFile() && entry.nlink > 1) return `${quotePath(path)} has other names`;
      if (ALTERNATES.test(path)) return `${quotePath(path)} names other repositories`;
      if (entry.isDirectory()) directories.push(path);
    }
  }
}

function namesIn(directory: string): string[] | undefined {
  try {
    return readdirSync(directory);
  } catch {
    return undefined;
  }
}

const MOST_ENTRIES = 20_000;
const NOT_PRINTED = /\/(?:objects\/(?:[0-9a-f]{2}|pack)|hooks|annex)$/;
const ALTERNATES = /\/objects\/info\/(?:http-)?alternates$/;

class Unproven extends Error {}

function describeDoubt(error: unknown): string {
  return error instanceof Unproven ? error.message : "the repository cannot be read";
}

/** `.git` in the directory or any above it. */
function findGitDirectory(cwd: string): { git_dir: string; work_tree: string } | undefined {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const place = join(directory, ".git");
    const entry = entryAt(place);
    if (entry?.isDirectory() === true) return { git_dir: place, work_tree: directory };
    if (entry?.isFile() === true) {
      const [, target] = /^gitdir: (.+)$/.exec(readLine(place)) ?? [];
      if (target === undefined) throw new Unproven(`${quotePath(place)} is not understood`);
      return { git_dir: realDirectory(directory, target), work_tree: directory };
    }
    if (entry !== undefined)
      throw new Unproven(`${quotePath(place)} is neither a directory nor a file`);
    // A directory that looks like the inside of a repository is one to git, with a config of its own.
    if (entryAt(join(directory, "HEAD")) !== undefined) {
      throw new Unproven(`${quotePath(directory)} may be a bare repository`);
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** A worktree shares the directory that this file names. */
function commonDirectory(gitDirectory: string): string {
  const place = join(gitDirectory, "commondir");
  return entryAt(place) === undefined ? gitDirectory : realDirectory(gitDirectory, readLine(place));
}

/** As the system follows it: `link/..` is the parent of what the link leads to. */
function realDirectory(from: string, given: string): string {
  const path = realpathSync.native(given.startsWith("/") ? given : `${from}/${given}`);
  if (path.includes("\uFFFD"))
    throw new Unproven(`${quotePath(path)} has a name that is not UTF-8`);
  return path;
}

function checkGitDirectory(gitDirectory: string, common: string): void {
  const head = readText(join(gitDirectory, "HEAD"));
  if (!/^(?:ref: refs\/[^\s\0]+|[0-9a-f]{40}|[0-9a-f]{64})\n$/.test(head)) {
    throw new Unproven(`${quotePath(join(gitDirectory, "HEAD"))} is not understood`);
  }
  for (const place of [join(common, "objects"), join(common, "refs")]) {
    if (entryAt(place)?.isDirectory() !== true) {
      throw new Unproven(`${quotePath(place)} is not a directory`);
    }
    accessSync(place, constants.R_OK | constants.X_OK);
  }
}

function checkConfigs(gitDirectory: string, common: string): void {
  for (const path of listConfigs(gitDirectory, common)) {
    if (!isHarmlessGitConfig(readText(path))) {
      throw new Unproven(`${quotePath(path)} has a setting that may run a program`);
    }
  }
}

function listConfigs(gitDirectory: string, common: string): string[] {
  return [...new Set([gitDirectory, common])]
    .flatMap((directory) => ["config", "config.worktree"].map((name) => join(directory, name)))
    .filter((path) => entryAt(path) !== undefined);
}

/** The mode of a submodule in an index; the bytes may mean something else, which costs one question. */
const SUBMODULE_MODE = Buffer.from([0, 0, 0xe0, 0]);
/** Marks an index that leaves entries out. */
const SPARSE_INDEX = Buffer.from("sdir");

/** Git starts itself in every submodule, where the config of that one holds. */
function checkSubmodules(gitDirectory: string): void {
  const names = readdirSync(gitDirectory);
  const isSplit = names.some((name) => name.startsWith("sharedindex."));
  if (!isSplit && !names.includes("index")) return;
  const index = isSplit ? undefined : readBytes(join(gitDirectory, "index"), MOST_INDEX_BYTES);
  if (index === undefined || index.includes(SUBMODULE_MODE) || index.includes(SPARSE_INDEX)) {
    throw new Unproven("the repository may have submodules, or an index that is not whole");
  }
}

const MOST_TEXT_BYTES = 256 * 1024;
const MOST_INDEX_BYTES = 32 * 1024 * 1024;

/** One line of plain text, and nothing else: what git makes of more, no one has to know. */
function readLine(path: string): string {
  const [, line] = /^([^\p{Cc}\uFFFD]+)\n?$/u.exec(readText(path)) ?? [];
  if (line === undefined) throw new Unproven(`${quotePath(path)} is not understood`);
  return line;
}

export function readText(path: string): string {
  return readBytes(path, MOST_TEXT_BYTES).toString("utf8");
}

/** Links are not followed: git would, to wherever they lead. */
function readBytes(path: string, mostBytes: number): Buffer {
  const entry = entryAt(path);
  if (entry?.isFile() !== true || entry.size > mostBytes) {
    throw new Unproven(`${quotePath(path)} is not a file of ordinary size`);
  }
  return readFileSync(path);
}

function entryAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function quotePath(path: string): string {
  return JSON.stringify(path);
}
