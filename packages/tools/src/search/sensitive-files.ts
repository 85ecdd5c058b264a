// The sensitive entries of a searched directory (PATH-3), as ripgrep's globs and as the judge of every
// path. What the globs exclude is never opened; a path they cannot describe is dropped by the judge. How
// many are left out never depends on what is in them: a count that did would answer questions about it.

import { homedir } from "node:os";
import { builtInSensitivePaths } from "@soong/core";

export interface SensitiveFiles {
  /** Whether an entry is sensitive, or in a sensitive directory; `path` is relative to the root. */
  isLeftOut(path: string): boolean;
  /** Patterns of the gitignore kind, relative to the root: whatever they match is sensitive. */
  readonly excluded: readonly string[];
  readonly caseInsensitive: boolean;
}

/** What to leave out below a root. Nothing where the root is sensitive itself: a person allowed that. */
export function sensitiveFilesBelow(
  root: string,
  sensitiveBy: (path: string) => string | undefined,
): SensitiveFiles {
  if (sensitiveBy(root) !== undefined) {
    return { isLeftOut: () => false, excluded: [], caseInsensitive: false };
  }
  const prefix = root === "/" ? "/" : `${root}/`;
  const directories = new Map<string, boolean>();
  const isSensitiveDirectory = (path: string): boolean => {
    let known = directories.get(path);
    if (known === undefined) {
      known = sensitiveBy(prefix + path) !== undefined || isBelowSensitive(path);
      if (directories.size >= MOST_REMEMBERED) directories.clear();
      directories.set(path, known);
    }
    return known;
  };
  const isBelowSensitive = (path: string): boolean => {
    const slash = path.lastIndexOf("/");
    return slash > 0 && isSensitiveDirectory(path.slice(0, slash));
  };
  return {
    isLeftOut: (path) => sensitiveBy(prefix + path) !== undefined || isBelowSensitive(path),
    excluded: builtInSensitivePaths().flatMap((pattern) =>
      patternsBelow(root, pattern, sensitiveBy),
    ),
    caseInsensitive: sensitiveBy("/.ENV") !== undefined,
  };
}

const MOST_REMEMBERED = 10_000;

/** A pattern of the list as seen from the root: none where it lies elsewhere. */
function patternsBelow(
  root: string,
  pattern: string,
  sensitiveBy: (path: string) => string | undefined,
): string[] {
  if (pattern === "id_*") return [KEY_FILES];
  if (!pattern.includes("/")) return [pattern];
  if (!pattern.startsWith("~/")) return anchoredBelow(root, pattern);
  const below = pattern.slice(2);
  // When nobody knows where home is, every directory might be one.
  const anywhere = sensitiveBy(`/any-directory/${below}`) !== undefined;
  if (anywhere) return [`**/${below}`];
  return HOMES.flatMap((home) => anchoredBelow(root, `${home}/${below}`));
}

const HOMES = [...new Set([homedir(), "/root", "/home/*", "/Users/*"])];

/**
 * A name of this kind is a key when it begins like one or has no dot (`id_work`, not `id_map.ts`). "No
 * dot" is written out up to a length that no name of a key reaches; the judge drops what is longer.
 */
const NO_DOT = Array.from({ length: 40 }, (_, index) => "[!.]".repeat(index + 1)).join(",");
const KEY_FILES = `id_{rsa*,dsa*,ecdsa*,ed25519*,xmss*,${NO_DOT}}`;

function anchoredBelow(root: string, pattern: string): string[] {
  const wanted = pattern
    .replace(/\/\*\*$/, "")
    .split("/")
    .slice(1);
  const have = root === "/" ? [] : root.split("/").slice(1);
  const isBelow =
    have.length < wanted.length &&
    have.every((segment, index) => wanted[index] === "*" || wanted[index] === segment);
  return isBelow ? [`/${wanted.slice(have.length).join("/")}`] : [];
}
