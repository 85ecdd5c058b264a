// Trees of which a command shows the names and opens nothing: `find`, `tree`, `du`, `ls -R`; and those that `grep -r` and `rg` search. What
// a rule keeps from being listed or read counts only where that listing or search would show it.

import { join, relative } from "node:path";
import type { Places } from "@soong/core";
import {
  baseName,
  compileGlob,
  hasOption,
  innerCommands,
  literalPrefix,
} from "@soong/core/internal";
import { canonicalPath, isWithin } from "./places-of-command.ts";
import type { Command } from "./spelled-commands.ts";
import { startsOfFind, walkedTrees } from "./walked-trees.ts";
import { nameMatcher, pathsBelow, TOO_MANY } from "./paths-below.ts";
import { entriesOf, isDirectory } from "../path/index.ts";

export interface ListedTree {
  /** Canonical. */
  readonly root: string;
  readonly access: "list" | "read";
  /** How far below it names are shown. */
  readonly depth: number;
  /** Whether this entry of the tree, by its path from the root, is shown; whether a directory is entered. */
  shows(below: string): boolean;
  enters(below: string): boolean;
}

/** Undefined for a command that lists no tree, or may do more than that. */
export function listedTrees({ argv, cwd, executable }: Command): ListedTree[] | undefined {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  const isSearch = SEARCHES.has(name);
  if (!isSearch && !Object.hasOwn(LISTERS, name)) return undefined;
  const { runArguments, opaque } = innerCommands(argv, executable);
  if (runArguments.length > 0 || opaque) return undefined;
  if (isSearch) return searchedTrees({ argv, cwd, executable });
  const listing = LISTERS[name]?.(args);
  if (listing === undefined) return undefined;
  const { starts, ...about } = listing;
  return (starts.length === 0 ? ["."] : starts).flatMap((start) => {
    const root = canonicalPath(cwd, start);
    return root === undefined ? [] : [{ root, access: "list", ...shownBelow(start, about) }];
  });
}

const SEARCHES: ReadonlySet<string> = new Set(["rg", "grep", "egrep", "fgrep"]);

/** Undefined where links are followed, or nothing is walked. */
function searchedTrees(command: Command): ListedTree[] | undefined {
  const trees = walkedTrees(command);
  if (trees.length === 0 || trees.some(({ followsLinks }) => followsLinks !== false)) {
    return undefined;
  }
  return trees.map((tree) => ({
    root: tree.root,
    access: "read",
    depth: Infinity,
    shows: (below) => tree.opens(lastName(below)),
    enters: (below) => tree.enters(lastName(below)),
  }));
}

/** One path for each rule or guard whose names a listing would show. */
export function restrictedInTrees(
  trees: readonly ListedTree[],
  places: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] {
  const found = new Set<string>();
  for (const tree of trees) {
    const globs = places.restrictedGlobs(tree.access);
    const isNamed = namesEntry(globs);
    const isRestricted = (path: string): boolean => {
      const kind = places.restrictedBy(path, tree.access)?.kind;
      return (kind === "rule" || kind === "hook") && isNamed(path);
    };
    for (const glob of globs) {
      const path = firstShown(tree, literalPrefix(glob).path, isRestricted);
      if (path !== undefined) found.add(path);
    }
  }
  return [...found];
}

/** Only the part of the tree that the pattern is about is looked through. A tree that is too large counts as one that shows it. */
function firstShown(
  tree: ListedTree,
  literal: string,
  isRestricted: (path: string) => boolean,
): string | undefined {
  const { root, depth } = tree;
  const from = isWithin(root, literal) ? literal : isWithin(literal, root) ? root : undefined;
  if (from === undefined) return undefined;
  const below = (path: string): string => relative(root, path);
  const depthOf = (path: string): number => (path === root ? 0 : below(path).split("/").length);
  const isShown = (path: string): boolean =>
    depthOf(path) <= depth && tree.shows(below(path)) && isRestricted(path);
  if (from !== root) {
    const steps = below(from).split("/");
    const isEntered = (count: number): boolean =>
      steps.slice(0, count).every((_, index) => tree.enters(steps.slice(0, index + 1).join("/")));
    if (isEntered(steps.length - 1) && isShown(from)) return from;
    if (!isEntered(steps.length)) return undefined;
  }
  if (depthOf(from) >= depth) return undefined;
  const enters = (path: string): boolean => depthOf(path) < depth && tree.enters(below(path));
  for (const path of pathsBelow(from, (_, one) => enters(one))) {
    if (path === TOO_MANY) return from;
    if (isShown(path)) return path;
  }
  return undefined;
}

/**
 * Names that `ls` would show and a rule keeps from being listed (PERM-15), one for each rule or guard. code.list_dir leaves them
 * out and counts them; a program cannot do that, so the call requires approval.
 */
export function restrictedNamesListed(
  { argv, cwd }: Pick<Command, "argv" | "cwd">,
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] {
  const [program = "", ...args] = argv;
  const globs = restrictedGlobs("list");
  if (!/^(?:ls|dir|vdir)$/.test(baseName(program)) || globs.length === 0) return [];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const options = args.slice(0, end);
  // Not what is behind an option with a value: `-Id`.
  if (options.some((arg) => /^-[^-ITw]*d|^--direc/.test(arg))) return [];
  const operands = [...options.filter((arg) => !arg.startsWith("-")), ...args.slice(end + 1)];
  const showsHidden = hasOption(options, SHOWS_HIDDEN);
  const isNamed = namesEntry(globs);
  const found = new Map<string, string>();
  for (const given of operands.length === 0 ? [cwd] : operands) {
    const directory = canonicalPath(cwd, given);
    if (directory === undefined || !isDirectory(directory)) continue;
    for (const name of Array.from(entriesOf(directory), (entry) => entry.name).toSorted()) {
      if (name.startsWith(".") && !showsHidden) continue;
      const path = join(directory, name);
      const restriction = restrictedBy(path, "list");
      // A sensitive name is listed (PATH-3).
      if (restriction === undefined || restriction.kind === "sensitive") continue;
      if (!found.has(restriction.by) && isNamed(path)) found.set(restriction.by, path);
    }
  }
  return [...found.values()];
}

const SHOWS_HIDDEN = "-aAf|--al* @digits";

/** Whether patterns name an entry itself: `secrets/**` is about what is in the directory, not about its name. */
function namesEntry(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs
    .map((glob) => glob.normalize("NFC").toLowerCase())
    .flatMap((glob) => (glob.endsWith("/**") ? [`${glob}/*`] : [glob, `${glob}/**`]))
    .map((glob) => compileGlob(glob));
  return (path) => {
    const folded = path.normalize("NFC").toLowerCase();
    return matchers.some((matches) => matches(folded));
  };
}

interface Listing {
  readonly starts: readonly string[];
  readonly depth: number;
  /** Tests on the path as it is printed. */
  readonly shows: (printed: string) => boolean;
  readonly enters: (printed: string) => boolean;
}

function shownBelow(start: string, { depth, shows, enters }: Omit<Listing, "starts">) {
  const printed = (below: string): string =>
    below === "" ? start : `${start.replace(/(?<=.)\/+$/, "")}/${below}`;
  return {
    depth,
    shows: (below: string) => shows(printed(below)),
    enters: (below: string) => enters(printed(below)),
  };
}

type Lister = (args: readonly string[]) => Listing | undefined;

const LISTERS: Readonly<Record<string, Lister>> = {
  find: listedByFind,
  tree(args) {
    if (hasOption(args, "-l|--from*")) return undefined;
    const ignored = (readValue(args, /^-I$/) ?? "").split("|").filter((one) => one !== "");
    const matchers = ignored.filter(isSimple).map(nameMatcher);
    const hidden = hasOption(args, "-a");
    const isListed = (printed: string): boolean =>
      !matchers.some((matches) => matches(lastName(printed))) &&
      (hidden || !lastName(printed).startsWith("."));
    const starts = withoutValues(args, /^-[LIPoHT]$/);
    const depth = readLevel(readValue(args, /^-L$/));
    return { starts, depth, shows: isListed, enters: isListed };
  },
  du(args) {
    if (hasOption(args, "-LDHX|--der*|--files*|--excl*")) return undefined;
    const isSum = hasOption(args, "-s|--sum*");
    const [attached] = args.flatMap((arg) => /^(?:-d|--max-depth=)(\d+)$/.exec(arg)?.[1] ?? []);
    const level = attached ?? readValue(args, /^(?:-d|--max-depth)$/);
    const starts = withoutValues(args, /^(?:-[dBt]|--max-depth)$/);
    return { starts, depth: isSum ? 0 : readLevel(level), shows: always, enters: always };
  },
  ls: listedByLs,
  dir: listedByLs,
  vdir: listedByLs,
};

/** The operands, without what is behind these options. */
function withoutValues(args: readonly string[], option: RegExp): string[] {
  return args.filter((arg, index) => !arg.startsWith("-") && !option.test(args[index - 1] ?? ""));
}

function listedByLs(args: readonly string[]): Listing | undefined {
  if (!hasOption(args, "-R|--rec* @digits") || hasOption(args, "-LH|--der* @digits"))
    return undefined;
  const hidden = hasOption(args, SHOWS_HIDDEN);
  const isListed = (printed: string): boolean => hidden || !lastName(printed).startsWith(".");
  const starts = args.filter((arg) => !arg.startsWith("-"));
  return { starts, depth: Infinity, shows: isListed, enters: isListed };
}

/** Actions that do more than show names, and links that are followed. */
const DOES_MORE = /^-(?:exec|execdir|ok|okdir|delete|fprint.*|fls|files0-from|follow|[LH])$/;

function listedByFind(args: readonly string[]): Listing | undefined {
  if (args.some((arg) => DOES_MORE.test(arg))) return undefined;
  const starts = startsOfFind(args);
  const depth = readLevel(readValue(args, /^-maxdepth$/));
  const all = { starts, depth, shows: always, enters: always };
  const tests = withoutPlacement(args.slice(args.findIndex((arg) => /^[-(!]/.test(arg))));
  if (args.every((arg) => !/^[-(!]/.test(arg))) return all;
  const { pruned, rest } = prunedBy(tests);
  const isEntered = (printed: string): boolean => !pruned.some((matches) => matches(printed));
  const enters = args.some((arg) => /^-d(?:epth)?$/.test(arg)) ? always : isEntered;
  return { ...all, enters, shows: shownByTests(rest) };
}

/** Options of find that are no tests. */
function withoutPlacement(words: readonly string[]): string[] {
  return words.filter(
    (word, index) =>
      !/^-(?:maxdepth|mindepth|xdev|mount|noleaf|depth|d|P)$/.test(word) &&
      !/^-(?:maxdepth|mindepth)$/.test(words[index - 1] ?? ""),
  );
}

type PathTest = (printed: string) => boolean;

const TEST = String.raw`(?:-type\0d\0(?:-a\0)?)?-i?(?:name|path|wholename)\0[^\0]*\0`;
/** `-path a -prune -o`, `( -name a -o -name b ) -prune -o` */
const PRUNING = new RegExp(
  String.raw`^(?:${TEST}|\\?\(\0(?:${TEST}-or?\0)*${TEST}\\?\)\0)(?:-a\0)?-prune\0-or?\0`,
);

/** What leads the expression, also several of them. */
function prunedBy(words: readonly string[]): { pruned: PathTest[]; rest: readonly string[] } {
  const pruned: PathTest[] = [];
  let rest = words.map((word) => `${word}\0`).join("");
  for (;;) {
    const [group = ""] = PRUNING.exec(rest) ?? [];
    const tests = Array.from(
      group.matchAll(/(-i?[a-z]*(?:name|path))\0([^\0]*)\0/g),
      ([, word, value]) => createTest(word, value),
    );
    if (group === "" || tests.includes(undefined))
      return { pruned, rest: rest.split("\0").slice(0, -1) };
    pruned.push(...tests.filter((test) => test !== undefined));
    rest = rest.slice(group.length);
  }
}

/** By tests that must all hold; an expression with alternatives may show everything. */
function shownByTests(words: readonly string[]): PathTest {
  const tests: PathTest[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (/^(?:-o|-or|,|\\?[()])$/.test(word)) return always;
    if (word === "!" || word === "-not") {
      const test = createTest(words[at + 1], words[at + 2]);
      if (test !== undefined) tests.push((printed) => !test(printed));
      at += 2;
    } else {
      const test = createTest(word, words[at + 1]);
      if (test !== undefined) tests.push(test);
      if (test !== undefined) at += 1;
    }
  }
  return (printed) => tests.every((test) => test(printed));
}

/** `-name pattern`, `-path pattern`; undefined for any other, and for patterns with more than `*` and `?`. */
function createTest(word = "", pattern = ""): PathTest | undefined {
  if (!isSimple(pattern) || pattern === "") return undefined;
  const flags = word.startsWith("-i") ? "is" : "s";
  // In find a star matches slashes, too.
  const source = pattern
    .replaceAll(/[.+^${}()|]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const whole = new RegExp(`^${source}$`, flags);
  if (/^-i?name$/.test(word)) return (printed) => whole.test(lastName(printed));
  return /^-i?(?:path|wholename)$/.test(word) ? (printed) => whole.test(printed) : undefined;
}

function isSimple(pattern: string): boolean {
  return !/[[\]\\]/.test(pattern);
}

function always(): boolean {
  return true;
}

function readValue(args: readonly string[], option: RegExp): string | undefined {
  const at = args.findIndex((arg) => option.test(arg));
  return at === -1 ? undefined : args[at + 1];
}

/** What is no number limits nothing. */
function readLevel(given: string | undefined): number {
  return given !== undefined && /^\d+$/.test(given) ? Number(given) : Infinity;
}

function lastName(printed: string): string {
  return printed.replace(/(?<=.)\/+$/, "").replace(/^.*\//s, "");
}
