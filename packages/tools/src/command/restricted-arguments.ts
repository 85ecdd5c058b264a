// Sensitive and restricted paths that occur anywhere in a command's arguments (PATH-3, PERM-15), also inside one:
// `--file=.env`, `HEAD:.env`, `@.env`, or the script of a shell. What a program puts together on its own is not found.

import { lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Places } from "@soong/core";
import { isReadingProgram } from "@soong/core/internal";
import { restrictedNameFinder, type JudgedPath } from "../path/index.ts";
import { baseDirectories } from "./base-directories.ts";
import { listedNames } from "./file-lists.ts";
import { canonicalPath, isBelowOpenFile, sensitivePath } from "./places-of-command.ts";
import { allCommands, type Command } from "./spelled-commands.ts";
import { argumentsThatName } from "./text-arguments.ts";
import { nameMatcher } from "./paths-below.ts";

export type CommandArguments = Required<Omit<Command, "executable">>;

type ArgumentPlaces = Pick<Places, "restrictedBy" | "restrictedGlobs"> &
  Partial<Pick<Places, "roots">>;

/** Canonical paths, each once. `guessed`: they restrict a pattern that a program which reads may take for a file. */
export function restrictedArguments(
  { argv, cwd, home }: CommandArguments,
  places: ArgumentPlaces,
  mayWrite: (path: string) => boolean = () => true,
): { named: JudgedPath[]; guessed: string[] } {
  const isGuess = patternTest(argv[0] ?? "", places);
  const hardLinkOf = hardLinkFinder(places);
  const found = new Map<string, JudgedPath>();
  const guessed = new Set<string>();
  const ask = (path: string, reason: string): void => {
    found.set(path, sensitivePath(path, reason));
  };
  const executable = argv[0] ?? "";
  const followed = baseDirectories({ argv, cwd, executable, home });
  if (followed === undefined) ask(cwd, "the command changes its directory too often to follow");
  const bases = followed ?? [cwd];
  const lists = listedNames(allCommands({ argv, executable }), bases);
  for (const list of lists.unread) ask(list, "it names too many files to look at each");
  const naming = [...argumentsThatName(argv), ...lists.names];
  for (const directory of choicesOfCurl(naming)) {
    ask(canonicalPath(cwd, directory) ?? directory, "curl may read any file of a choice in it");
  }
  for (const [named, isPattern] of pathsInArguments({ argv: naming, bases, home })) {
    if (isBelowOpenFile(named)) {
      ask(named, "it leads through an open file of the program, so where it leads is not known");
      continue;
    }
    for (const path of [named, ...hardLinkOf(named)]) {
      const isWritten = mayWrite(named);
      const reading = places.restrictedBy(path, "read");
      const writing = isWritten ? places.restrictedBy(path, "write") : undefined;
      // What is sensitive is so for reading.
      const restriction = reading ?? (writing?.kind === "rule" ? writing : undefined);
      if (restriction === undefined) continue;
      if (restriction.kind !== "sensitive" && isPattern && isGuess(path)) {
        guessed.add(path);
        continue;
      }
      found.set(path, {
        kind: "path",
        access: "read",
        path,
        ...(restriction.kind === "sensitive" ? { sensitive: true } : {}),
        ...(isWritten ? {} : { only_read: true }),
      });
    }
  }
  return { named: [...found.values()], guessed: [...guessed].filter((path) => !found.has(path)) };
}

function choicesOfCurl(argv: readonly string[]): string[] {
  if (!argv.some((argument) => /\bcurl\b/.test(argument))) return [];
  const paths = argv.flatMap((argument) => takeFileUrls(argument).paths);
  return [...new Set(paths.flatMap((path) => directoryBeforeChoice(path) ?? []))];
}

/** No shell is around a program that only reads, so no pattern is expanded: only the directory is certain. */
function patternTest(
  program: string,
  { restrictedBy }: Pick<Places, "restrictedBy">,
): (path: string) => boolean {
  const name = basename(program);
  if (!isReadingProgram(name) && !/^(?:sed|awk|gawk|mawk|rg)$/.test(name)) return () => false;
  return (path) => restrictedBy(dirname(path), "read") === undefined;
}

export interface ArgumentsFrom extends Omit<CommandArguments, "cwd"> {
  /** The directories that a relative path may begin in. */
  readonly bases: readonly string[];
}

/** Every path that a piece of an argument could be, more than are meant, and whether a pattern matches it. */
export function pathsInArguments({ argv, bases, home }: ArgumentsFrom): Map<string, boolean> {
  const pieces = new Set(
    argv
      .map((argument) => takeFileUrls(argument.replaceAll(/\$HOME\b|\$\{HOME\}/g, home)))
      .flatMap(({ rest, paths }) => [...paths, ...splitArgument(rest)])
      .map((piece) => piece.replace(/^~(?=\/|$)/, home)),
  );
  const paths = new Map<string, boolean>();
  for (const piece of pieces) {
    if (piece === "" || piece.includes("\0") || piece.length > MOST_PATH_CHARS) continue;
    const isPattern = PATTERN.test(basename(piece));
    // From the root all are the same.
    for (const base of piece.startsWith("/") ? bases.slice(0, 1) : bases) {
      for (const path of listPaths(base, piece))
        paths.set(path, isPattern && paths.get(path) !== false);
    }
  }
  return paths;
}

/** The restricted name of a file that an argument names by another one. */
function hardLinkFinder({
  restrictedBy,
  restrictedGlobs,
  roots,
}: ArgumentPlaces): (path: string) => string[] {
  const { project = "" } = roots ?? {};
  const nameOf = restrictedNameFinder({ restrictedBy, restrictedGlobs, project }, "read");
  return (path) => {
    const node = nodeAt(path);
    const name = node === undefined ? undefined : nameOf(path, node);
    return name === undefined ? [] : [name];
  };
}

const PATTERN = /[*?[]/;
const MOST_PATH_CHARS = 4096;
/** What is between a path and its surroundings, in options and in scripts. */
const BORDERS = /[\s=:,@"'`;|&<>(){}!#]+/;

function splitArgument(argument: string): string[] {
  // Whole behind its option, too: a path may hold any of those characters.
  const values = [/^[^=]*=(.*)$/s, /^[^:]*:(.*)$/s, /^[^@]*@(.*)$/s].flatMap(
    (before) => before.exec(argument)?.[1] ?? [],
  );
  const pieces = [argument, ...values, ...argument.split(BORDERS)];
  // The value of a short option comes right behind its letter, or behind several: `-f.env`, `-sT.env`.
  const attached = pieces.flatMap((piece) => {
    const [, letters = ""] = /^-([A-Za-z0-9]{1,8}|[^-])./s.exec(piece) ?? [];
    return Array.from(letters, (_, index) => piece.slice(index + 2));
  });
  // A shell takes a backslash away: `.e\nv`.
  const unescaped = pieces
    .filter((piece) => piece.includes("\\"))
    .map((piece) => piece.replaceAll("\\", ""));
  return [...pieces, ...attached, ...unescaped];
}

/** By its letters, by what it leads to, and by the names a pattern matches. */
function listPaths(cwd: string, piece: string): string[] {
  const named = resolve(cwd, piece);
  // As the system resolves it: behind a link, ".." leads elsewhere than by its letters.
  const real = canonicalPath(cwd, piece);
  const paths = [named, ...(real === undefined ? [] : [real])];
  const matching = paths.flatMap(namesMatching);
  const led = matching.flatMap((path) => canonicalPath(cwd, path) ?? []);
  return [...new Set([...paths, ...matching, ...led])];
}

/** Only the last name may be a pattern: one directory is looked through, not a tree. */
function namesMatching(path: string): string[] {
  const pattern = basename(path);
  if (!PATTERN.test(pattern)) return [];
  const matches = nameMatcher(pattern);
  const isShown = (name: string): boolean => !name.startsWith(".") || pattern.startsWith(".");
  try {
    return readdirSync(dirname(path))
      .filter((name) => isShown(name) && matches(name))
      .map((name) => join(dirname(path), name));
  } catch {
    return [];
  }
}

function nodeAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

interface FileUrls {
  /** The argument without them. */
  readonly rest: string;
  /** As written and decoded, with and without what may be a query. */
  readonly paths: readonly string[];
}

function takeFileUrls(argument: string): FileUrls {
  const paths: string[] = [];
  // A path may hold any character, so an argument that is a URL is one as a whole.
  const pattern = /^file:/i.test(argument) ? WHOLE : INSIDE;
  const rest = argument.replaceAll(pattern, (_, path: string) => {
    paths.push(...[path, path.replace(/[?#].*$/s, "")].flatMap((one) => [one, decode(one)]));
    return "";
  });
  return { rest, paths: [...new Set(paths)] };
}

/** curl writes out `{a,b}` and `[1-3]` itself: the directory before is all that is certain of such a path. */
function directoryBeforeChoice(path: string): string | undefined {
  const [, before] = /^([^{[]*\/)[^/]*[{[]/.exec(path) ?? [];
  return before;
}

const WHOLE = /^file:(?:\/\/[^/]*)?(\/.*)$/gis;
const INSIDE = /\bfile:(?:\/\/[^/\s"'`]*)?(\/[^\s"'`;|&<>()]*)/gi;

function decode(path: string): string {
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}
