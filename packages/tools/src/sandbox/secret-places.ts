// Where secrets are outside the writable places (PATH-3): the places of the built-in list that are there, and names of
// its patterns near the top of the user's home.

import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { builtInSensitivePaths } from "@soong/core";
import { isWithin, literalPrefix } from "@soong/core/internal";
import { entriesOf, INSTALLED } from "../path/index.ts";
import { OF_SYSTEM, withoutInner } from "./close-paths.ts";
import { createNameTest, type ProfilePlaces } from "./place-judge.ts";

/** Every one of them exists. */
export function builtInSecrets(home: string | undefined): string[] {
  const homes = [...new Set([homedir(), home ?? homedir(), ...HOMES.flatMap(fillIn)])];
  return builtInSensitivePaths()
    .flatMap((pattern) => {
      if (pattern.startsWith("~/")) return homes.map((one) => join(one, pattern.slice(2)));
      // Names are looked for elsewhere; every process inside sees processes of its own alone.
      if (!pattern.startsWith("/") || /^\/(?:\*\*|proc)\//.test(pattern)) return [];
      return fillIn(pattern.replace(/\/\*\*$/, ""));
    })
    .filter(isThere);
}

/** Most are not: an error for each would cost more than all else. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const HOMES = ["/root", "/home/*", "/Users/*"];

/** The paths that a pattern with one star for a whole segment matches. */
function fillIn(pattern: string): string[] {
  const [before = "", after] = pattern.split("*");
  if (after === undefined) return [pattern];
  return [...entriesOf(before)].map(({ name }) => `${before}${name}${after}`);
}

/** What patterns with wildcards close outside the writable places, and names near the top of the home: found once a minute. */
export function outsideSecrets(
  home: string | undefined,
  writable: readonly string[],
  places: ProfilePlaces,
): readonly string[] {
  const globs = places.restrictedGlobs("read");
  const key = JSON.stringify([home, writable, globs]);
  if (remembered?.key === key && performance.now() - remembered.at < KEPT_MS)
    return remembered.paths;
  const isWalked = (path: string): boolean => writable.some((place) => isWithin(place, path));
  const wild = globs.filter((glob) => {
    const { path, rest } = literalPrefix(glob);
    if (rest === "" || rest === "**" || isWalked(path)) return false;
    // A name that the user calls sensitive, wherever it is, is looked for in the writable places and in the home alone.
    return path !== "/" || places.restrictedBy(createSample(rest), "read")?.kind !== "sensitive";
  });
  const starts = wild.map((glob) => literalPrefix(glob).path);
  const isNamed = createNameTest(wild);
  const near = home ?? homedir();
  const paths = [
    ...withoutInner(starts).flatMap((start) =>
      restrictedFrom(start, { places, isNamed, isWalked }),
    ),
    ...(near === "/" ? [] : secretNamesIn(near, places, writable)),
  ];
  remembered = { key, paths, at: performance.now() };
  return paths;
}

const KEPT_MS = 60_000;
let remembered: { key: string; paths: readonly string[]; at: number } | undefined;

/** Some path that a pattern from the top of the disk fits. */
function createSample(rest: string): string {
  const names = rest.split("/").filter((name) => name !== "**" && name !== "");
  return `/${names.join("/").replace(/\\(.)|[*?]/g, (_, kept?: string) => kept ?? "_")}`;
}

interface Looking {
  readonly places: ProfilePlaces;
  readonly isNamed: (name: string) => boolean;
  readonly isWalked: (path: string) => boolean;
}

function restrictedFrom(start: string, { places, isNamed, isWalked }: Looking): string[] {
  const found: string[] = [];
  const ahead = [start];
  let left = MOST_ENTRIES;
  for (const directory of ahead) {
    for (const entry of entriesOf(directory)) {
      if ((left -= 1) < 0) throw new TooManyEntries(start);
      const path = join(directory, entry.name);
      if (isWalked(path) || (start === "/" && OF_SYSTEM.test(`${path}/`))) continue;
      const restriction = isNamed(entry.name) ? places.restrictedBy(path, "read") : undefined;
      if (restriction !== undefined && restriction.kind !== "sensitive") found.push(path);
      else if (entry.isDirectory()) ahead.push(path);
    }
  }
  return found;
}

const MOST_ENTRIES = 200_000;

/** A rule that cannot be kept inside must not be taken for one that is. */
class TooManyEntries extends Error {
  constructor(directory: string) {
    super(
      `a rule or guard speaks of what is in ${JSON.stringify(directory)} by a pattern, and there are more than ${MOST_ENTRIES} entries to look at`,
    );
  }
}

/** Restricted names near the top of a home; what is below them, and what is walked anyway, is skipped. */
function secretNamesIn(
  home: string,
  { restrictedBy }: ProfilePlaces,
  walked: readonly string[],
): string[] {
  const found: string[] = [];
  const ahead = [{ directory: home, depth: 1 }];
  let left = MOST_NEAR;
  for (const { directory, depth } of ahead) {
    for (const entry of entriesOf(directory)) {
      if ((left -= 1) < 0) return found;
      const path = join(directory, entry.name);
      if (INSTALLED.test(path) || walked.some((place) => isWithin(place, path))) continue;
      if (restrictedBy(path, "read") !== undefined) found.push(path);
      else if (entry.isDirectory() && depth < DEPTH)
        ahead.push({ directory: path, depth: depth + 1 });
    }
  }
  return found;
}

const DEPTH = 3;
const MOST_NEAR = 5000;
