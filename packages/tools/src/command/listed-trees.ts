// Trees of which a command shows the names and opens nothing: `find`, `tree`, `du`, `ls -R`; and those that `grep -r` and `rg` search. What
// a rule keeps from being listed or read counts only where that listing or search would show it.

import { join, relative } from "node:path";
import type { Places } from "@soong/core";
import { baseName, innerCommands, literalPrefix } from "@soong/core/internal";
import { namesEntry } from "./listed-names.ts";
import { canonicalPath, isWithin } from "./places-of-command.ts";
import { nameMatcher } from "./name-matcher.ts";
import { startsOfFind, walkedTrees } from "./walked-trees.ts";
import { entriesOf } from "../path/index.ts";

export interface ListingCommand {
  readonly argv: readonly string[];
  /** Canonical. */
  readonly cwd: string;
  readonly executable: string;
}

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
export function listedTrees({ argv, cwd, executable }: ListingCommand): ListedTree[] | undefined {
  const [program = "", ...args] = argv;
  const name = baseName(program);
  const isSearch = SEARCHES.has(name);
  if (!isSearch && !Object.hasOwn(LISTERS, name)) return undefined;
  const { told, opaque } = innerCommands(argv, executable);
  if (told.length > 0 || opaque) return undefined;
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
function searchedTrees(command: ListingCommand): ListedTree[] | undefined {
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

const MOST_ENTRIES = 5000;

/** Only the part of the tree that the pattern is about is looked through. A tree that is too large counts as one that shows it. */
function firstShown(
  tree: ListedTree,
  literal: string,
  isRestricted: (path: string) => boolean,
): string | undefined {
  const { root, depth } = tree;
  const from = isWithin(root, literal) ? literal : isWithin(literal, root) ? root : undefined;
  if (from === undefined) return undefined;
  const steps = relative(root, from).split("/");
  const isEntered = steps.every((_, index) => tree.enters(steps.slice(0, index + 1).join("/")));
  const isShown = (path: string): boolean => {
    const below = relative(root, path);
    return below.split("/").length <= depth && tree.shows(below) && isRestricted(path);
  };
  if (from !== root && isParentEntered(tree, steps) && isShown(from)) return from;
  if (from !== root && !isEntered) return undefined;
  const ahead = [from];
  let left = MOST_ENTRIES;
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    if (at !== root && relative(root, at).split("/").length >= depth) continue;
    for (const entry of entriesOf(at)) {
      if ((left -= 1) < 0) return from;
      const path = join(at, entry.name);
      if (isShown(path)) return path;
      if (entry.isDirectory() && tree.enters(relative(root, path))) ahead.push(path);
    }
  }
  return undefined;
}

function isParentEntered(tree: ListedTree, steps: readonly string[]): boolean {
  return steps.slice(0, -1).every((_, index) => tree.enters(steps.slice(0, index + 1).join("/")));
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
    if (has(args, /^-[A-Za-z]*l|^--from/)) return undefined;
    const level = valueOf(args, /^-L$/);
    const ignored = (valueOf(args, /^-I$/) ?? "").split("|").filter((one) => one !== "");
    const matchers = ignored.filter(isSimple).map(nameMatcher);
    const hidden = has(args, /^-[A-Za-z]*a/);
    const isListed = (printed: string): boolean =>
      !matchers.some((matches) => matches(lastName(printed))) &&
      (hidden || !lastName(printed).startsWith("."));
    const starts = args.filter(
      (arg, index) => !arg.startsWith("-") && !/^-[LIPoHT]$/.test(args[index - 1] ?? ""),
    );
    return { starts, depth: levelOf(level), shows: isListed, enters: isListed };
  },
  du(args) {
    if (has(args, /^-[A-Za-z]*[LDHX]|^--(?:der|files|excl)/)) return undefined;
    const isSum = has(args, /^-[A-Za-z]*s|^--sum/);
    const [attached] = args.flatMap((arg) => /^(?:-d|--max-depth=)(\d+)$/.exec(arg)?.[1] ?? []);
    const level = attached ?? valueOf(args, /^(?:-d|--max-depth)$/);
    const starts = args.filter(
      (arg, index) =>
        !arg.startsWith("-") && !/^(?:-[dBt]|--max-depth)$/.test(args[index - 1] ?? ""),
    );
    return { starts, depth: isSum ? 0 : levelOf(level), shows: always, enters: always };
  },
  ...Object.fromEntries(["ls", "dir", "vdir"].map((name) => [name, listedByLs])),
};

function listedByLs(args: readonly string[]): Listing | undefined {
  if (!has(args, /^-[A-Za-z0-9]*R|^--rec/) || has(args, /^-[A-Za-z0-9]*[LH]|^--der/)) {
    return undefined;
  }
  const hidden = has(args, /^-[A-Za-z0-9]*[aAf]|^--al/);
  const isListed = (printed: string): boolean => hidden || !lastName(printed).startsWith(".");
  const starts = args.filter((arg) => !arg.startsWith("-"));
  return { starts, depth: Infinity, shows: isListed, enters: isListed };
}

/** Actions that do more than show names, and links that are followed. */
const DOES_MORE = /^-(?:exec|execdir|ok|okdir|delete|fprint.*|fls|files0-from|follow|[LH])$/;

function listedByFind(args: readonly string[]): Listing | undefined {
  if (has(args, DOES_MORE)) return undefined;
  const starts = startsOfFind(args);
  const depth = levelOf(valueOf(args, /^-maxdepth$/));
  const all = { starts, depth, shows: always, enters: always };
  const tests = withoutPlacement(args.slice(args.findIndex((arg) => /^[-(!]/.test(arg))));
  if (args.every((arg) => !/^[-(!]/.test(arg))) return all;
  const { pruned, rest } = prunedBy(tests);
  const isEntered = (printed: string): boolean => !pruned.some((matches) => matches(printed));
  const enters = has(args, /^-d(?:epth)?$/) ? always : isEntered;
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

/** The leading `-path a -prune -o`, also several, and `( -name a -o -name b ) -prune -o`. */
function prunedBy(words: readonly string[]): { pruned: PathTest[]; rest: readonly string[] } {
  const pruned: PathTest[] = [];
  let rest = words;
  for (;;) {
    const isGroup = rest[0] === "(" || rest[0] === "\\(";
    const found: PathTest[] = [];
    let at = isGroup ? 1 : 0;
    for (;;) {
      if (rest[at] === "-type" && rest[at + 1] === "d") at += rest[at + 2] === "-a" ? 3 : 2;
      const test = testOf(rest[at], rest[at + 1]);
      if (test === undefined) return { pruned, rest };
      found.push(test);
      at += 2;
      if (!isGroup || !/^-o(?:r)?$/.test(rest[at] ?? "")) break;
      at += 1;
    }
    if (isGroup && !/^\\?\)$/.test(rest[at] ?? "")) return { pruned, rest };
    at += isGroup ? 1 : 0;
    if (rest[at] === "-a") at += 1;
    if (rest[at] !== "-prune" || !/^-o(?:r)?$/.test(rest[at + 1] ?? "")) return { pruned, rest };
    pruned.push(...found);
    rest = rest.slice(at + 2);
  }
}

/** By tests that must all hold; an expression with alternatives may show everything. */
function shownByTests(words: readonly string[]): PathTest {
  const tests: PathTest[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (/^(?:-o|-or|,|\\?[()])$/.test(word)) return always;
    if (word === "!" || word === "-not") {
      const test = testOf(words[at + 1], words[at + 2]);
      if (test !== undefined) tests.push((printed) => !test(printed));
      at += 2;
    } else {
      const test = testOf(word, words[at + 1]);
      if (test !== undefined) tests.push(test);
      if (test !== undefined) at += 1;
    }
  }
  return (printed) => tests.every((test) => test(printed));
}

/** `-name pattern`, `-path pattern`; undefined for any other, and for patterns with more than `*` and `?`. */
function testOf(word = "", pattern = ""): PathTest | undefined {
  if (!isSimple(pattern) || pattern === "") return undefined;
  const flags = word.startsWith("-i") ? "is" : "s";
  // In find a star stands for slashes, too.
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

function has(args: readonly string[], option: RegExp): boolean {
  return args.some((arg) => option.test(arg));
}

function valueOf(args: readonly string[], option: RegExp): string | undefined {
  const at = args.findIndex((arg) => option.test(arg));
  return at === -1 ? undefined : args[at + 1];
}

/** What is no number limits nothing. */
function levelOf(given: string | undefined): number {
  return given !== undefined && /^\d+$/.test(given) ? Number(given) : Infinity;
}

function lastName(printed: string): string {
  return printed.replace(/(?<=.)\/+$/, "").replace(/^.*\//s, "");
}
