// Files that are restricted under one name and have another one (PERM-15, PATH-3): a hard link is the same file. Only
// what rules name is looked through, and only so much of it: docs/decisions/0019 has the bound.

import { lstatSync, opendirSync, readdirSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import type { Places, RestrictedAccess } from "@soong/core";
import { literalPrefix } from "@soong/core/internal";

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
  places: Pick<Places, "restrictedBy" | "restrictedGlobs"> & { readonly project?: string },
  access: RestrictedAccess,
): (path: string, node: BigIntStats) => string | undefined {
  const { project = "" } = places;
  let byRules: RestrictedHardLinks | undefined;
  let sensitive: ReadonlyMap<string, string> | undefined;
  return (path, node) => {
    if (!node.isFile() || node.nlink < 2n) return undefined;
    byRules ??= restrictedHardLinks(places, access);
    // Package managers install by hard links, from a store of published files.
    if (byRules.has(node) || project === "" || INSTALLED.test(path)) return byRules.nameOf(node);
    sensitive ??= linkedFilesBelow(
      project,
      (name) => places.restrictedBy(name, access)?.kind === "sensitive",
    );
    return sensitive.get(keyOf(node));
  };
}

const INSTALLED = /\/(?:node_modules|site-packages)(?:\/|$)/;

/** Files of such a name that have another one, in as many entries as are looked at. */
function linkedFilesBelow(
  directory: string,
  isMeant: (path: string) => boolean,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const ahead = [directory];
  let left = MOST_ENTRIES;
  for (const at of ahead) {
    try {
      for (const entry of readdirSync(at, { withFileTypes: true })) {
        if ((left -= 1) < 0) return found;
        const path = join(at, entry.name);
        if (entry.isDirectory() && entry.name !== ".git" && !INSTALLED.test(path)) ahead.push(path);
        if (!entry.isFile() || !isMeant(path)) continue;
        const node = lstatSync(path, { bigint: true });
        if (node.nlink > 1n) found.set(keyOf(node), path);
      }
    } catch {
      // What cannot be looked at is not read through another name either.
    }
  }
  return found;
}

export function restrictedHardLinks(
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
  access: RestrictedAccess,
): RestrictedHardLinks {
  const names = new Map<string, string>();
  let left = MOST_ENTRIES;

  const look = (path: string): void => {
    const found = restrictedBy(path, access);
    if (found === undefined || found.kind === "sensitive") return;
    const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    if (stats?.isFile() === true && stats.nlink > 1n) names.set(keyOf(stats), path);
  };
  const walk = (directory: string, recursive: boolean): void => {
    const below: string[] = [];
    try {
      const opened = opendirSync(directory);
      try {
        for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
          if (left <= 0) return;
          left -= 1;
          const path = join(directory, entry.name);
          if (entry.isFile()) look(path);
          else if (entry.isDirectory() && recursive && entry.name !== ".git") below.push(path);
        }
      } finally {
        opened.closeSync();
      }
    } catch {
      return;
    }
    for (const path of below) walk(path, recursive);
  };

  for (const [path, recursive] of placesOf(restrictedGlobs(access))) {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() === true) look(path);
      // The agent's own home and sensitive directories are not restricted by a rule.
      else if (stats?.isDirectory() === true && mayHold(path)) walk(path, recursive);
    } catch {
      // What cannot be looked at is not read through another name either.
    }
  }
  return {
    size: names.size,
    has: (node) => names.has(keyOf(node)),
    nameOf: (node) => names.get(keyOf(node)),
  };

  function mayHold(path: string): boolean {
    return restrictedBy(path, access)?.kind !== "sensitive";
  }
}

/** Where each glob begins, and whether it goes deeper than one directory. */
function placesOf(globs: readonly string[]): Map<string, boolean> {
  const places = new Map<string, boolean>();
  for (const glob of globs) {
    const { path, rest } = literalPrefix(glob);
    const recursive = rest === "" || rest.includes("/") || rest.includes("**");
    places.set(path, recursive || places.get(path) === true);
  }
  return places;
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
