// One walk through a writable place before a command, and one after it: it runs before every command, so it looks at names alone.

import { readdirSync, type Dirent } from "node:fs";
import { selfRunningBy } from "@soong/core/internal";
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
  const found: FoundInPlace = { hidden: [], kept: [], selfRunning: [], repositories: [] };
  const turn = createEventLoopYield(signal);
  const ahead = [place];
  const selfRunning = new Set<string>();
  for (const directory of ahead) {
    const installed = INSTALLED.test(directory);
    const last = directory.slice(directory.lastIndexOf("/"));
    const own = new Set<string>();
    const runsOnItsOwn = selfRunning.has(directory);
    for (const entry of listDirectory(directory)) {
      if (turn.isDue()) await turn.pause();
      const { name } = entry;
      const path = `${directory === "/" ? "" : directory}/${name}`;
      if (OF_REPOSITORY.has(name)) own.add(name);
      if (judge.keeps(path, name)) found.kept.push(path);
      if (judge.hides(path, name, installed)) {
        found.hidden.push(path);
        continue;
      }
      if (name === ".git") {
        found.repositories.push(path);
        continue;
      }
      // Every name and place of the list ends within two segments.
      const isRun = !installed && !runsOnItsOwn && selfRunningBy(`${last}/${name}`) !== undefined;
      if (isRun) found.selfRunning.push(path);
      if (runsOnItsOwn || isRun) selfRunning.add(path);
      if (!entry.isDirectory()) continue;
      if (judge.entersInstalled || !INSTALLED.test(path)) ahead.push(path);
    }
    if (own.size === OF_REPOSITORY.size) found.repositories.push(directory);
  }
  return found;
}

const OF_REPOSITORY: ReadonlySet<string> = new Set(["HEAD", "objects", "refs"]);

/** Nothing for what cannot be listed: a command cannot list it either. */
function listDirectory(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
