// One walk through a writable place before a command, and one after it: it runs before every command, so it looks at names alone.

import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { selfRunningBy } from "@soong/core/internal";
import { readErrno } from "@soong/platform";
import { INSTALLED } from "../path/index.ts";
import { createEventLoopYield } from "../search/walk.ts";

export interface FoundInPlace {
  /** The topmost of what can be neither read nor written; links among them. */
  readonly hidden: string[];
  /** What may not be written. */
  readonly kept: string[];
  /** What other programs run on their own (PATH-6), but for the git directories. */
  readonly selfRunning: string[];
  /** `.git` of work trees, and bare repositories. */
  readonly repositories: string[];
  /** Directories that cannot be looked into: their owner can make them readable, and a command may be that. */
  readonly unlisted: string[];
  /** What no mount can be made on: its name, or one on the way to it, is not UTF-8. */
  readonly unnamed: string[];
}

export interface PlaceJudge {
  /** `installed`: among published files, where nothing is the user's own. */
  hides(path: string, name: string, installed: boolean): boolean;
  keeps(path: string, name: string): boolean;
  /** Whether to look into a directory of installed packages. */
  readonly entersInstalled: boolean;
}

export async function lookThrough(
  place: string,
  judge: PlaceJudge,
  signal: AbortSignal,
): Promise<FoundInPlace> {
  const found: FoundInPlace = {
    hidden: [],
    kept: [],
    selfRunning: [],
    repositories: [],
    unlisted: [],
    unnamed: [],
  };
  const turn = createEventLoopYield(signal);
  const ahead = [place];
  const selfRunning = new Set<string>();
  for (const directory of ahead) {
    const installed = INSTALLED.test(directory);
    const last = directory.slice(directory.lastIndexOf("/"));
    const own = new Set<string>();
    const runsOnItsOwn = selfRunning.has(directory);
    const entries = listDirectory(directory);
    if (entries === undefined) found.unlisted.push(directory);
    if (entries?.some(({ name }) => name.includes(UNDECODED)) === true) {
      found.unnamed.push(...restrictedUndecoded(Buffer.from(directory), judge));
    }
    for (const entry of entries ?? []) {
      if (turn.isDue()) await turn.pause();
      const { name } = entry;
      const path = `${directory === "/" ? "" : directory}/${name}`;
      if (OF_REPOSITORY.has(name)) own.add(name);
      if (judge.keeps(path, name)) found.kept.push(path);
      // Every name and place of the list ends within two segments.
      const isRun =
        !installed &&
        !runsOnItsOwn &&
        name !== ".git" &&
        selfRunningBy(`${last}/${name}`) !== undefined;
      if (isRun) found.selfRunning.push(path);
      if (judge.hides(path, name, installed)) {
        found.hidden.push(path);
        continue;
      }
      if (name === ".git") {
        found.repositories.push(path);
        continue;
      }
      if (runsOnItsOwn || isRun) selfRunning.add(path);
      if (!entry.isDirectory()) continue;
      if (judge.entersInstalled || !INSTALLED.test(path)) ahead.push(path);
    }
    if (own.size === OF_REPOSITORY.size) found.repositories.push(directory);
  }
  return found;
}

const OF_REPOSITORY: ReadonlySet<string> = new Set(["HEAD", "objects", "refs"]);

/** Undefined where it is there and cannot be looked into. One whose path is too long for the kernel cannot be reached by it. */
export function listDirectory(directory: string): Dirent[] | undefined {
  try {
    // Names can be listed where what they name cannot be looked at.
    lstatSync(`${directory}/.`);
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    return GONE.has(readErrno(error) ?? "") ? [] : undefined;
  }
}

const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** What Node puts in the place of bytes that are not UTF-8. */
const UNDECODED = "\uFFFD";

/** What is restricted, or a repository, by a path that is not UTF-8. */
function restrictedUndecoded(directory: Buffer, judge: PlaceJudge): string[] {
  let entries: Dirent<Buffer>[];
  try {
    entries = readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    return GONE.has(readErrno(error) ?? "") ? [] : [directory.toString()];
  }
  return entries.flatMap((entry) => {
    const bytes = Buffer.concat([directory, Buffer.from("/"), entry.name]);
    const [path, name] = [bytes.toString(), entry.name.toString()];
    if (Buffer.from(path).equals(bytes)) return [];
    if (name === ".git" || judge.hides(path, name, INSTALLED.test(path))) return [path];
    return entry.isDirectory() ? restrictedUndecoded(bytes, judge) : [];
  });
}
