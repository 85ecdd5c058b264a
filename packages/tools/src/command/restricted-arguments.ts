// Sensitive and restricted paths that occur anywhere in a command's arguments (PATH-3, PERM-15), also inside one:
// `--file=.env`, `HEAD:.env`, `@.env`, or the script of a shell. What a program puts together by itself is not found.

import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { compileGlob, globProblem, type Places } from "@soong/core";
import { restrictedHardLinks, type JudgedPath } from "../path/index.ts";
import { canonicalPath } from "./places-of-command.ts";

export interface CommandArguments {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** What `~` and `$HOME` mean to a shell among them. */
  readonly home: string;
}

/** Canonical paths, each once. */
export function restrictedArguments(
  { argv, cwd, home }: CommandArguments,
  places: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): JudgedPath[] {
  const pieces = new Set(
    argv
      .flatMap((argument) => piecesOf(argument.replaceAll(/\$HOME\b|\$\{HOME\}/g, home)))
      .map((piece) => piece.replace(/^~(?=\/|$)/, home)),
  );
  const hardLinkOf = hardLinkFinder(places);
  const found = new Map<string, JudgedPath>();
  for (const piece of pieces) {
    if (piece === "" || piece.includes("\0") || piece.length > MOST_PATH_CHARS) continue;
    for (const named of pathsOf(cwd, piece)) {
      for (const path of [named, ...hardLinkOf(named)]) {
        const restriction = places.restrictedBy(path, "read");
        if (restriction === undefined) continue;
        const sensitive = restriction.kind === "sensitive" ? { sensitive: true } : {};
        found.set(path, { kind: "path", access: "read", path, ...sensitive });
      }
    }
  }
  return [...found.values()];
}

/** The restricted name of a file that an argument names by another one. */
function hardLinkFinder(
  places: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): (path: string) => string[] {
  let links: ReturnType<typeof restrictedHardLinks> | undefined;
  return (path) => {
    const node = nodeAt(path);
    if (node?.isFile() !== true || node.nlink < 2n) return [];
    links ??= restrictedHardLinks(places, "read");
    const name = links.nameOf(node);
    return name === undefined ? [] : [name];
  };
}

const MOST_PATH_CHARS = 4096;
/** What stands between a path and its surroundings, in options and in scripts. */
const BORDERS = /[\s=:,@"'`;|&<>(){}!#]+/;

function piecesOf(argument: string): string[] {
  // Whole behind its option, too: a path may hold any of those characters.
  const values = [/^[^=]*=(.*)$/s, /^[^:]*:(.*)$/s, /^[^@]*@(.*)$/s].flatMap(
    (before) => before.exec(argument)?.[1] ?? [],
  );
  const pieces = [argument, ...values, ...argument.split(BORDERS)];
  // The value of a short option stands right behind its letter: `-f.env`.
  const attached = pieces.filter((piece) => /^-[^-]./.test(piece)).map((piece) => piece.slice(2));
  // A shell takes a backslash away: `.e\nv`.
  const unescaped = pieces
    .filter((piece) => piece.includes("\\"))
    .map((piece) => piece.replaceAll("\\", ""));
  return [...pieces, ...attached, ...unescaped];
}

/** By its letters, by what it leads to, and by the names a pattern stands for. */
function pathsOf(cwd: string, given: string): string[] {
  // To a program, its own directory and root are what the command is started with.
  const piece = given.replace(OWN_PLACE, (_, place: string) => (place === "cwd" ? cwd : ""));
  const named = resolve(cwd, piece);
  // As the system resolves it: behind a link, ".." leads elsewhere than by its letters.
  const real = canonicalPath(cwd, piece);
  const paths = [named, ...(real === undefined ? [] : [real])];
  const matching = paths.flatMap(namesMatching);
  const led = matching.flatMap((path) => canonicalPath(cwd, path) ?? []);
  return [...new Set([...paths, ...matching, ...led])];
}

const OWN_PLACE = /^\/proc\/(?:thread-)?self\/(?:task\/[^/]+\/)?(cwd|root)(?=\/|$)/;

/** Only the last name may be a pattern: one directory is looked through, not a tree. */
function namesMatching(path: string): string[] {
  const pattern = basename(path);
  if (!/[*?[]/.test(pattern)) return [];
  const matches = shellGlob(pattern);
  try {
    return readdirSync(dirname(path))
      .filter(matches)
      .map((name) => join(dirname(path), name));
  } catch {
    return [];
  }
}

/** As a shell matches names, or a little more: a set of characters stands for any one. */
function shellGlob(pattern: string): (name: string) => boolean {
  const simple = pattern.replaceAll(/\[[^\]]*\]/g, "?");
  const matches = compileGlob(globProblem(simple) === undefined ? simple : "*");
  return (name) => matches(name) && (!name.startsWith(".") || pattern.startsWith("."));
}

function nodeAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}
