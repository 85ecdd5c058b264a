// What is below the trees that a command walks (PATH-3, PERM-15). A sensitive file there is opened as surely as if an argument named it,
// so each is judged like a path that is named. So are links and hard links to what rules and guards restrict elsewhere; what they restrict
// in the tree itself is looked for in paths-in-reach.ts.

import { lstatSync, type Dirent } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Places } from "@soong/core";
import { literalPrefix } from "@soong/core/internal";
import {
  configHoldsSecret,
  entriesOf,
  existsThroughLinks,
  isDirectory,
  restrictedHardLinks,
  type JudgedPath,
} from "../path/index.ts";
import { canonicalPath, isWithin, sensitivePath } from "./places-of-command.ts";
import type { WalkedTree } from "./walked-trees.ts";

export interface WalkLimits {
  /** How many entries are looked at; a larger tree asks. */
  readonly entries: number;
  /** How many files are named in a question. */
  readonly found: number;
}

const LIMITS: WalkLimits = { entries: 20_000, found: 20 };

/** Published files: keys and certificates among them are samples and tests. Nothing of the user's own is there. */
const INSTALLED: ReadonlySet<string> = new Set(["node_modules", "site-packages"]);

export interface FoundInTrees {
  readonly sensitive: JudgedPath[];
  /** One for each rule or guard, where a link leads to what it restricts. */
  readonly restricted: string[];
}

export function lookThroughTrees(
  trees: readonly WalkedTree[],
  places: Pick<Places, "restrictedBy" | "restrictedGlobs">,
  limits: WalkLimits = LIMITS,
): FoundInTrees {
  const found = new Map<string, JudgedPath>();
  const restricted = new Map<string, string>();
  if (trees.length === 0) return { sensitive: [], restricted: [] };
  const named = places.restrictedGlobs("read").map((glob) => literalPrefix(glob).path);
  const hardLinks = named.length === 0 ? undefined : restrictedHardLinks(places, "read");
  for (const tree of trees) {
    // What the user calls sensitive is looked for in every place.
    const inside = named.filter((path) => path !== tree.root && isWithin(tree.root, path));
    const starts = isInstalled(tree.root) ? inside : [tree.root, ...inside];
    const judge = createJudge(tree, { places, hardLinks, found, restricted });
    const isEnough = (): boolean => found.size >= limits.found;
    if (walkTree(tree, starts, judge, isEnough, limits.entries)) continue;
    if (tree.showsNamesOnly) {
      // Sensitive names are listed (PATH-3); what a rule keeps from being listed may be among the rest.
      for (const path of named) {
        const restriction = places.restrictedBy(path, "list");
        if (restriction !== undefined && restriction.kind !== "sensitive")
          restricted.set(restriction.by, path);
      }
      continue;
    }
    const reason = `it has more than ${limits.entries} entries`;
    found.set(tree.root, { ...sensitivePath(tree.root, reason, "search"), too_large: true });
  }
  return { sensitive: [...found.values()], restricted: [...restricted.values()] };
}

interface Judging {
  readonly places: Pick<Places, "restrictedBy">;
  readonly hardLinks: ReturnType<typeof restrictedHardLinks> | undefined;
  readonly found: Map<string, JudgedPath>;
  readonly restricted: Map<string, string>;
}

/** True: what it is says enough, and nothing below it is looked at. */
type Judge = (path: string, leadsTo: string, isFile: boolean) => boolean;

function createJudge(
  { root, showsNamesOnly }: WalkedTree,
  { places, hardLinks, found, restricted }: Judging,
): Judge {
  const access = showsNamesOnly ? "list" : "read";
  return (path, leadsTo, isFile) => {
    if (OF_A_PROCESS.test(leadsTo)) {
      const reason = "it leads to the directories and open files of the program";
      found.set(path, sensitivePath(path, reason, "search"));
      return true;
    }
    const elsewhere = [
      ...(leadsTo === path && isWithin(root, path) ? [] : [leadsTo]),
      ...(isFile && !showsNamesOnly ? findHardLinks(leadsTo, hardLinks) : []),
    ];
    for (const name of elsewhere) {
      const restriction = places.restrictedBy(name, access);
      if (restriction === undefined || restriction.kind === "sensitive") continue;
      restricted.set(restriction.by, name);
      return true;
    }
    if (showsNamesOnly) return false;
    const secret = [path, leadsTo].find(
      (name) => places.restrictedBy(name, "read")?.kind === "sensitive" && holdsSecret(name),
    );
    if (secret === undefined) return false;
    found.set(secret, sensitivePath(secret));
    return true;
  };
}

const OF_A_PROCESS = /^\/proc\/(?:self|\d+)(?:\/|$)/;

function findHardLinks(path: string, links: Judging["hardLinks"]): string[] {
  if (links === undefined || links.size === 0) return [];
  try {
    const name = links.nameOf(lstatSync(path, { bigint: true }));
    return name === undefined || name === path ? [] : [name];
  } catch {
    return [];
  }
}

function isInstalled(path: string): boolean {
  return path.split("/").some((name) => INSTALLED.has(name));
}

/** What is near the top is looked at first. False: there is more than may be looked at. */
function walkTree(
  tree: WalkedTree,
  starts: readonly string[],
  judge: Judge,
  isEnough: () => boolean,
  entries: number,
): boolean {
  const ahead = starts.filter(isDirectory);
  const seen = new Set(ahead);
  let left = entries;
  for (const start of starts) {
    const isOfProcess = tree.followsLinks === true && OF_A_PROCESS.test(start);
    if ((start !== tree.root && existsThroughLinks(start)) || isOfProcess)
      judge(start, start, false);
  }
  for (const at of ahead) {
    for (const entry of entriesOf(at)) {
      if (isEnough()) return true;
      if ((left -= 1) < 0) return false;
      const path = join(at, entry.name);
      const leadsTo = findTarget(tree, path, entry);
      if (leadsTo === undefined) continue;
      const isFolder = leadsTo === path ? entry.isDirectory() : isDirectory(leadsTo);
      const isEntered = isFolder && (leadsTo === path || tree.followsLinks === true);
      if (!(isEntered ? tree.enters(entry.name) : tree.opens(entry.name))) continue;
      if (judge(path, leadsTo, !isFolder) || !isEntered) continue;
      if (INSTALLED.has(entry.name) || isInsideGit(path) || seen.has(leadsTo)) continue;
      seen.add(leadsTo);
      ahead.push(leadsTo);
    }
  }
  return true;
}

/** Undefined for a link that is not followed: the command sees no more of it than where it leads. */
function findTarget(tree: WalkedTree, path: string, entry: Dirent): string | undefined {
  if (!entry.isSymbolicLink()) return path;
  return tree.followsLinks === false ? undefined : canonicalPath(tree.cwd, path);
}

/** Beside its config, a repository holds what was committed. */
function isInsideGit(path: string): boolean {
  return basename(dirname(path)) === ".git";
}

function holdsSecret(path: string): boolean {
  return !path.endsWith("/.git/config") || configHoldsSecret(path);
}
