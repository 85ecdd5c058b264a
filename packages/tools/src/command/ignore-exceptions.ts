// Names that ignore files call back, by which ripgrep opens hidden files it would pass by: `!.env` in `.ignore`.

import { readFileSync, statSync, type Dirent } from "node:fs";
import { dirname, join } from "node:path";
import { nameMatcher, pathsBelow, TOO_MANY } from "./paths-below.ts";

const MOST_ENTRIES = 20_000;
const MOST_BYTES = 256 * 1024;
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];
const NOT_ENTERED: ReadonlySet<string> = new Set([".git", "node_modules", "site-packages"]);

/** Whether ignore files around and below these directories may call a file of this name back. */
export function calledBack(roots: readonly string[]): (name: string) => boolean {
  const directories = foldersBelow(roots);
  if (directories === undefined) return () => true;
  const names = new Set<string>();
  for (const directory of [...directories, ...roots.flatMap(foldersAbove)]) {
    for (const file of IGNORE_FILES) {
      const found = exceptionsIn(join(directory, file));
      if (found === undefined) return () => true;
      for (const name of found) names.add(name);
    }
  }
  const matchers = [...names].map(nameMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

/** Undefined where there are too many. */
function foldersBelow(roots: readonly string[]): readonly string[] | undefined {
  const found = [...roots];
  const note = ({ name }: Dirent, path: string): boolean =>
    !NOT_ENTERED.has(name) && found.push(path) > 0;
  const isWhole = roots.every((root) =>
    [...pathsBelow(root, note, MOST_ENTRIES)].every((path) => path !== TOO_MANY),
  );
  return isWhole ? found : undefined;
}

function foldersAbove(directory: string): string[] {
  const above = dirname(directory);
  return above === directory ? [] : [above, ...foldersAbove(above)];
}

/** The last names of the patterns behind `!`; undefined for a file that cannot be read. */
function exceptionsIn(path: string): string[] | undefined {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return [];
    if (!file.isFile() || file.size > MOST_BYTES) return undefined;
    return readFileSync(path, "utf8")
      .split("\n")
      .flatMap((line) => /^\uFEFF?\s*!(.+?)\/*\s*$/.exec(line)?.[1] ?? [])
      .map((pattern) => pattern.slice(pattern.lastIndexOf("/") + 1));
  } catch {
    return undefined;
  }
}
