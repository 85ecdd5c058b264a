// Files that a rule or a guard restricts under one name and that have another one (PERM-15): a hard link is the same
// file. Only what rules name is looked through, and only so much of it: docs/decisions/0019 has the bound.

import { lstatSync, opendirSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { literalPrefix, type Places, type RestrictedAccess } from "@soong/core";

export interface RestrictedHardLinks {
  readonly size: number;
  has(node: BigIntStats): boolean;
  /** The restricted name of a file that is looked at under another one. */
  nameOf(node: BigIntStats): string | undefined;
}

/** Entries looked at for one call, over all rules. */
const MOST_ENTRIES = 10_000;

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
