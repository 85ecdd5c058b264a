// Restricted paths that a command could get at without naming them (PERM-15): an interpreter can open anything, and a
// tool that walks a tree opens what is in it. What a program really does cannot be judged here, so a person is asked.

import { lstatSync, opendirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPlainCommand, literalPrefix, type Places } from "@soong/core";
import { canonicalPath, isWithin } from "./places-of-command.ts";

export interface ReachingCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly executable: string;
  /** Proven to read only, and only what its arguments name. */
  readonly read_only: boolean;
}

/** One path for each rule or guard that is in reach; none where its arguments say all it touches. */
export function pathsInReach(
  command: ReachingCommand,
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] {
  const globs = restrictedGlobs("read");
  const trees = globs.length === 0 ? [] : treesOf(command);
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

/** The directories whose contents it may get at: everything, for a program that is not known. */
function treesOf({ argv, cwd, executable, read_only }: ReachingCommand): string[] {
  const [program = "", ...args] = argv;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "git") {
    if (!read_only) return ["/"];
    return SHOWS_NO_FILES.has(args.find((arg) => !arg.startsWith("-")) ?? "version")
      ? []
      : [repositoryOf(cwd)];
  }
  if (!read_only && !isPlainCommand(program, executable)) return ["/"];
  const lists = LISTS_FILES[name];
  if (lists !== undefined && args.some((arg) => lists.test(arg))) return ["/"];
  const recursive = RECURSIVE[name];
  const walks = recursive !== undefined && args.some((arg) => recursive.test(arg));
  if (!WALKS.has(name) && !walks) return [];
  const named = args.flatMap((arg) => canonicalPath(cwd, arg) ?? []).filter(isDirectory);
  return named.length === 0 ? [cwd] : named;
}

/** Plain programs that take a whole directory, whatever their options. */
const WALKS: ReadonlySet<string> = new Set(["find", "tree", "du", "mv", "rg", "ag"]);
/** By which options the others do, abbreviated ones too. */
const RECURSIVE: Readonly<Record<string, RegExp>> = byName([
  [["ls", "dir", "vdir"], /^-[A-Za-z0-9]*R|^--rec/],
  [["grep", "egrep", "fgrep"], /^-[A-Za-z0-9]*[rRd]|^--(?:rec|der|dir)/],
  [["cp"], /^-[A-Za-z]*[rRa]|^--(?:rec|ar)/],
  [["diff"], /^-[A-Za-z0-9]*r|^--rec/],
  [["rm", "chmod", "chown", "chgrp"], /^-[A-Za-z]*[rR]|^--rec/],
  [["gzip", "gunzip"], /^-[A-Za-z0-9]*r|^--rec/],
]);
/** Options by which a file says which files are read. */
const LISTS_FILES: Readonly<Record<string, RegExp>> = byName([
  [["wc", "sort", "du"], /^--f/],
  [
    [
      "cksum",
      "sum",
      "md5sum",
      "sha1sum",
      "sha224sum",
      "sha256sum",
      "sha384sum",
      "sha512sum",
      "b2sum",
    ],
    /^-[A-Za-z]*c|^--ch/,
  ],
]);

function byName(rows: readonly (readonly [readonly string[], RegExp])[]): Record<string, RegExp> {
  return Object.fromEntries(
    rows.flatMap(([names, pattern]) => names.map((name) => [name, pattern])),
  );
}

/** They show neither names nor contents of files. */
const SHOWS_NO_FILES: ReadonlySet<string> = new Set([
  "version",
  "branch",
  "tag",
  "remote",
  "rev-parse",
  "describe",
  "symbolic-ref",
]);

function repositoryOf(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return at;
    if (at === "/") return cwd;
  }
}

function reachedBy(
  glob: string,
  trees: readonly string[],
  isRestricted: (path: string) => boolean,
): string | undefined {
  const { path, rest } = literalPrefix(glob);
  for (const tree of trees) {
    const from = isWithin(tree, path) ? path : isWithin(path, tree) ? tree : undefined;
    if (from === undefined || !exists(from)) continue;
    if (isRestricted(from)) return from;
    if (rest === "" || rest === "**" || !isDirectory(from)) continue;
    const found = firstBelow(from, isRestricted);
    if (found === TOO_MANY) return sampleOf(path, rest);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MOST_ENTRIES = 5000;
const TOO_MANY = Symbol("too many entries");

/** The first restricted entry of a tree, as far as it is looked through. */
function firstBelow(
  directory: string,
  isRestricted: (path: string) => boolean,
): string | typeof TOO_MANY | undefined {
  const ahead = [directory];
  let left = MOST_ENTRIES;
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    try {
      const opened = opendirSync(at);
      try {
        for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
          if ((left -= 1) < 0) return TOO_MANY;
          const path = join(at, entry.name);
          if (isRestricted(path)) return path;
          if (entry.isDirectory()) ahead.push(path);
        }
      } finally {
        opened.closeSync();
      }
    } catch {
      // What cannot be listed here cannot be walked by the command either.
    }
  }
  return undefined;
}

/** Some path that the glob fits, for a tree that is too large to look for a real one. */
function sampleOf(path: string, rest: string): string {
  const names = rest.split("/").filter((name) => name !== "**" && name !== "");
  return join(
    path,
    ...names.map((name) => name.replace(/\\(.)|[*?]/g, (_, kept?: string) => kept ?? "_")),
  );
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
