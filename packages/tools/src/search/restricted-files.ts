// The entries of a walked directory that are omitted (PATH-3, PERM-15): sensitive ones, and those that a rule or a
// guard restricts; as ripgrep's globs and as the judge of every path. What the globs exclude is never opened; a path
// they cannot describe is dropped by the judge. How many are omitted never depends on what is in them: a count that
// did would answer questions about it.

import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { builtInSensitivePaths, type Places, type RestrictedAccess } from "@soong/core";
import { literalPrefix } from "@soong/core/internal";
import { restrictedHardLinks } from "../path/index.ts";

export type ReasonLeftOut = "sensitive" | "restricted";

export interface RestrictedFiles {
  /** Why an entry is omitted, itself or with the directory it is in; `path` is relative to the root. */
  reasonFor(path: string): ReasonLeftOut | undefined;
  /** Patterns of the gitignore kind, relative to the root: all they match is omitted. Undefined: they cannot say it. */
  readonly excluded: readonly string[] | undefined;
  readonly caseInsensitive: boolean;
}

/** What to leave out below a root. What restricts the root itself was judged with the call, and is not asked again. */
export function restrictedFilesBelow(
  root: string,
  access: RestrictedAccess,
  places: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): RestrictedFiles {
  const { restrictedBy } = places;
  const judged = restrictedBy(root, access);
  const prefix = root === "/" ? "/" : `${root}/`;
  const links = restrictedHardLinks(places, access);

  const ownReason = (path: string): ReasonLeftOut | undefined => {
    const found = restrictedBy(prefix + path, access);
    if (found === undefined) return links.size === 0 ? undefined : linkReason(prefix + path);
    const isSensitive = found.kind === "sensitive";
    if (judged?.kind === found.kind && (isSensitive || judged.by === found.by)) return undefined;
    return isSensitive ? "sensitive" : "restricted";
  };
  const linkReason = (path: string): ReasonLeftOut | undefined => {
    const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    const isLinked = stats !== undefined && stats.nlink > 1n && links.has(stats);
    return isLinked ? "restricted" : undefined;
  };

  const directories = new Map<string, ReasonLeftOut | undefined>();
  const reasonForDirectory = (path: string): ReasonLeftOut | undefined => {
    if (!directories.has(path)) {
      if (directories.size >= MOST_REMEMBERED) directories.clear();
      directories.set(path, reasonAbove(path) ?? ownReason(path));
    }
    return directories.get(path);
  };
  const reasonAbove = (path: string): ReasonLeftOut | undefined => {
    const slash = path.lastIndexOf("/");
    return slash > 0 ? reasonForDirectory(path.slice(0, slash)) : undefined;
  };
  // A walk asks for one entry of a directory after the other.
  let lastDirectory = "";
  let lastReason: ReasonLeftOut | undefined;
  const reasonFor = (path: string): ReasonLeftOut | undefined => {
    const end = path.lastIndexOf("/") + 1;
    if (end !== lastDirectory.length || !path.startsWith(lastDirectory)) {
      lastDirectory = path.slice(0, end);
      lastReason = reasonAbove(path);
    }
    return lastReason ?? ownReason(path);
  };
  return {
    reasonFor,
    excluded: links.size > 0 ? undefined : excludedBelow(root, access, places),
    caseInsensitive: restrictedBy("/.ENV", access)?.kind === "sensitive",
  };
}

const MOST_REMEMBERED = 10_000;

function excludedBelow(
  root: string,
  access: RestrictedAccess,
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] | undefined {
  const globs = restrictedGlobs(access);
  // The user who allowed a restricted directory allowed what is in it; what else is restricted there is for the judge.
  if (restrictedBy(root, access) !== undefined) return globs.length === 0 ? [] : undefined;
  const excluded = builtInSensitivePaths().flatMap((pattern) =>
    patternsBelow(root, pattern, restrictedBy),
  );
  for (const glob of globs) {
    const below = globBelow(root, glob);
    if (below === undefined) return undefined;
    excluded.push(...below);
  }
  return excluded;
}

/** An absolute glob as seen from the root: none where it is elsewhere, undefined where ripgrep could not say it. */
function globBelow(root: string, glob: string): string[] | undefined {
  const { path, rest } = literalPrefix(glob);
  // A name has several Unicode forms, and ripgrep compares bytes.
  if (/[^\0-\x7f]/.test(glob)) return undefined;
  const prefix = root === "/" ? "/" : `${root}/`;
  const isBelow = path.startsWith(prefix);
  if (isBelow || path === root) {
    const own = isBelow ? path.slice(prefix.length).replace(/[\\*?[\]{}!]/g, "\\$&") : "";
    const pattern = [own, rest].filter((part) => part !== "").join("/");
    const named = pattern.replace(/(?:^|\/)\*\*$/, "");
    // The whole directory is omitted: the judge of each path says so without ripgrep.
    return named === "" ? undefined : [`/${named}`];
  }
  if (!root.startsWith(path === "/" ? "/" : `${path}/`)) return [];
  if (rest === "") return undefined;
  return rest.startsWith("**/") ? [`/${rest.replace(/\/\*\*$/, "")}`] : undefined;
}

/** A pattern of the built-in list as seen from the root: none where it is elsewhere. */
function patternsBelow(
  root: string,
  pattern: string,
  restrictedBy: Places["restrictedBy"],
): string[] {
  if (pattern === "id_*") return [KEY_FILES];
  if (!pattern.includes("/")) return [pattern];
  if (!pattern.startsWith("~/")) return anchoredBelow(root, pattern);
  const below = pattern.slice(2);
  // When no one knows where home is, every directory might be one.
  const anywhere = restrictedBy(`/any-directory/${below}`, "search")?.kind === "sensitive";
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
