// Which entries of a tree git would leave out: the ignore files of the directories above, up to the root
// of the repository, and its info/exclude. A repository inside another one has rules of its own. Outside
// any repository the ignore files of the tree itself count, all the way down.

import { lstatSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { joinDisk, readSmallFile, type DirectoryEntry, type DiskPath } from "./walked-nodes.ts";
import { compileWildcard, type Wildcard } from "./wildcard.ts";

type Verdict = "ignored" | "kept";

export interface IgnoreFile {
  /** What the last rule that fits says; undefined where none does. `path` is relative to the file's directory. */
  verdict(name: string, path: () => string, isDirectory: boolean): Verdict | undefined;
}

/** The rules of one ignore file, as git reads them. */
export function parseIgnoreFile(text: string): IgnoreFile | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const rules = lines.flatMap(readRule).toReversed();
  if (rules.length === 0) return undefined;
  return {
    verdict: (name, path, isDirectory) =>
      rules.find(
        ({ test, anchored, directoriesOnly }) =>
          (isDirectory || !directoriesOnly) && test(anchored ? path() : name),
      )?.says,
  };
}

interface Rule {
  readonly says: Verdict;
  readonly directoriesOnly: boolean;
  /** About the path from the file's directory, not about a name at any depth. */
  readonly anchored: boolean;
  readonly test: Wildcard;
}

function readRule(line: string): Rule[] {
  if (line.startsWith("#")) return [];
  const says = line.startsWith("!") ? "kept" : "ignored";
  const given = withoutTrailingSpaces(says === "kept" ? line.slice(1) : line);
  const directoriesOnly = given.endsWith("/");
  const pattern = directoriesOnly ? given.slice(0, -1) : given;
  const bare = pattern.replace(/^\//, "");
  // A pattern that means nothing matches nothing; git reads on, too.
  const test = bare === "" ? undefined : compileWildcard(bare);
  if (test === undefined) return [];
  return [{ says, directoriesOnly, anchored: pattern.includes("/"), test }];
}

/** The first of them may be quoted. */
function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end -= 1;
  let start = end;
  while (text[start - 1] === "\\") start -= 1;
  const isQuoted = (end - start) % 2 === 1;
  return text.slice(0, isQuoted ? end + 1 : end);
}

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
  for (const first of [files, excludes]) {
    for (let level = first; level !== undefined; level = level.above) {
      const { base, file } = level;
      const path = (): string => join(directory, name).slice(base === "/" ? 1 : base.length + 1);
      const verdict = file.verdict(name, path, isDirectory);
      if (verdict !== undefined) return verdict === "ignored";
    }
  }
  return false;
}

/** The rules inside a directory whose entries are known. */
export function rulesInside(
  outer: IgnoreRules,
  { path, disk }: { readonly path: string; readonly disk: DiskPath },
  entries: readonly DirectoryEntry[],
): IgnoreRules {
  let { files, excludes } = outer;
  const { began } = outer;
  const holds = (wanted: string) => entries.some(({ name }) => name === wanted);
  if (holds(".git")) {
    if (began === "inside") files = undefined;
    excludes = withRules(began === "inside" ? undefined : excludes, path, excludeFile(disk));
  }
  if (holds(".gitignore")) files = withRules(files, path, joinDisk(disk, ".gitignore"));
  return { files, excludes, began };
}

/** The rules that hold for a directory because of what is above it. */
export function rulesAbove(directory: string): IgnoreRules {
  const repository = repositoryRoot(directory);
  if (repository === undefined) return { files: undefined, excludes: undefined, began: "outside" };
  const above: string[] = [];
  for (let at = directory; at !== repository; at = dirname(at)) above.unshift(dirname(at));
  const files = above.reduce<Level | undefined>(
    (level, path) => withRules(level, path, join(path, ".gitignore")),
    undefined,
  );
  const excludes = withRules(undefined, repository, excludeFile(repository));
  return { files, excludes, began: "inside" };
}

/** The nearest directory, itself or above, that is the root of a repository. */
export function repositoryRoot(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return at;
    if (at === "/") return undefined;
  }
}

/** More than any list of rules that users keep; a larger file is left unread. */
const MOST_BYTES = 1024 * 1024;

function withRules(above: Level | undefined, base: string, place: DiskPath): Level | undefined {
  const text = readSmallFile(place, MOST_BYTES);
  const file = text === undefined ? undefined : parseIgnoreFile(text);
  return file === undefined ? above : { file, base, above };
}

/** A linked worktree has a file that leads to its own directory, and from there to the shared one. */
function excludeFile(repository: DiskPath): DiskPath {
  let git = joinDisk(repository, ".git");
  const link = /^gitdir: (.+)/.exec(readSmallFile(git, MOST_BYTES) ?? "")?.[1];
  if (link !== undefined) {
    const own = isAbsolute(link) ? link : join(repository.toString(), link);
    const common = readSmallFile(join(own, "commondir"), MOST_BYTES)?.trim() ?? ".";
    git = isAbsolute(common) ? common : join(own, common);
  }
  return joinDisk(joinDisk(git, "info"), "exclude");
}
