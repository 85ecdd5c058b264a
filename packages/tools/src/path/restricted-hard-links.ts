// Files that are restricted under one name and have another one (PERM-15, PATH-3): a hard link is the same file. Only
// what rules name is looked through, and only so much of it: docs/decisions/0019 has the bound.

import { lstatSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import type { Places, RestrictedAccess } from "@soong/core";
import { literalPrefix } from "@soong/core/internal";
import { entriesOf, lookAt } from "./resolve-path.ts";

export interface RestrictedHardLinks {
  readonly size: number;
  has(node: BigIntStats): boolean;
  /** The restricted name of a file that is looked at under another one. */
  nameOf(node: BigIntStats): string | undefined;
}

/** Entries looked at for one call, over all rules. */
const MOST_ENTRIES = 10_000;

/** Finds the restricted names of files that one call names by another; sensitive files of the project count, too. */
export function restrictedNameFinder(
  places: RestrictingPlaces & { readonly project?: string },
  access: RestrictedAccess,
): (path: string, node: BigIntStats) => string | undefined {
  const { project = "", restrictedBy } = places;
  let byRules: RestrictedHardLinks | undefined;
  let sensitive: Map<string, string> | undefined;
  return (path, node) => {
    if (!node.isFile() || node.nlink < 2n) return undefined;
    byRules ??= restrictedHardLinks(places, access);
    // Package managers install by hard links, from a store of published files.
    if (byRules.has(node) || project === "" || INSTALLED.test(path)) return byRules.nameOf(node);
    if (sensitive === undefined) {
      sensitive = new Map();
      const isOther = (below: string): boolean => !INSTALLED.test(below);
      for (const name of filesBelow(project, { left: MOST_ENTRIES }, isOther)) {
        if (restrictedBy(name, access)?.kind === "sensitive") noteLinked(name, sensitive);
      }
    }
    return sensitive.get(inodeKey(node));
  };
}

/** Published files: keys and certificates among them are samples and tests. */
export const INSTALLED = /\/(?:node_modules|site-packages)(?:\/|$)/;

type RestrictingPlaces = Pick<Places, "restrictedBy" | "restrictedGlobs">;

export function restrictedHardLinks(
  { restrictedBy, restrictedGlobs }: RestrictingPlaces,
  access: RestrictedAccess,
): RestrictedHardLinks {
  const names = new Map<string, string>();
  const budget = { left: MOST_ENTRIES };
  for (const [start, recursive] of listPlaces(restrictedGlobs(access))) {
    // The agent's own home and sensitive directories are not restricted by a rule.
    const isWalked =
      lookAt(start)?.isDirectory() === true && restrictedBy(start, access)?.kind !== "sensitive";
    const files = isWalked ? filesBelow(start, budget, () => recursive) : [start];
    for (const path of files) {
      const found = restrictedBy(path, access);
      if (found !== undefined && found.kind !== "sensitive") noteLinked(path, names);
    }
  }
  return {
    size: names.size,
    has: (node) => names.has(inodeKey(node)),
    nameOf: (node) => names.get(inodeKey(node)),
  };
}

/** Plain files in a directory and below, the nearest first, in as many entries as are left. */
function* filesBelow(
  start: string,
  budget: { left: number },
  enters: (directory: string) => boolean,
): Generator<string, void> {
  const ahead = [start];
  for (const directory of ahead) {
    for (const entry of entriesOf(directory)) {
      if ((budget.left -= 1) < 0) return;
      const path = join(directory, entry.name);
      if (entry.isFile()) yield path;
      else if (entry.isDirectory() && entry.name !== ".git" && enters(path)) ahead.push(path);
    }
  }
}

/** Keeps a plain file that has a further name. */
function noteLinked(path: string, names: Map<string, string>): void {
  try {
    const node = lstatSync(path, { bigint: true });
    if (node.isFile() && node.nlink > 1n) names.set(inodeKey(node), path);
  } catch {
    // What cannot be looked at is not read through another name either.
  }
}

/** Where each glob begins, and whether it goes deeper than one directory. */
function listPlaces(globs: readonly string[]): Map<string, boolean> {
  const places = new Map<string, boolean>();
  for (const glob of globs) {
    const { path, rest } = literalPrefix(glob);
    const recursive = rest === "" || rest.includes("/") || rest.includes("**");
    places.set(path, recursive || places.get(path) === true);
  }
  return places;
}

export function inodeKey({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
