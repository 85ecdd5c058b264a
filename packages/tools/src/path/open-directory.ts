// Holds exactly the directory that was judged, so that what is in it can be reached through the handle.

import { constants } from "node:fs";

import { platformOpening } from "./opening.ts";
import { failureOf, notADirectory } from "./path-failure.ts";
import { errnoOf } from "@soong/platform";
import { pinJudged } from "./pin-judged.ts";
import { type Opening, type PinnedNode, kindOf } from "./pinned-node.ts";

export interface VerifiedDirectory {
  readonly path: string;
  /** A path to that name in this very directory; "." for the directory itself (to list it). */
  entry(name: string): string;
  isAtJudgedPath(): Promise<boolean>;
  /** Makes the names in it survive a power cut, where the file system can. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** `path` is canonical; `name` another way to it, through the handle of its parent. */
export async function openDirectory(
  path: string,
  opening: Opening = platformOpening,
  name: string = path,
): Promise<VerifiedDirectory> {
  const node = await pinDirectory(path, opening, name);
  if (kindOf(node.stats) !== "directory") {
    await node.close();
    throw notADirectory(path);
  }
  return {
    path,
    entry(name) {
      if (name === "" || name === ".." || name.includes("/") || name.includes("\0")) {
        throw new TypeError(`${JSON.stringify(name)} is not the name of a directory entry.`);
      }
      return node.name === "/" ? `/${name}` : `${node.name}/${name}`;
    },
    isAtJudgedPath: () => node.isAtJudgedPath(),
    async flush() {
      try {
        const handle = await node.reopen(constants.O_RDONLY | constants.O_DIRECTORY);
        try {
          await handle.sync();
        } finally {
          await handle.close();
        }
      } catch {
        // A directory that may not be read, or a file system that cannot: what was done in it stands.
      }
    },
    close: () => node.close(),
  };
}

async function pinDirectory(path: string, opening: Opening, name: string): Promise<PinnedNode> {
  try {
    return await pinJudged(path, opening, name);
  } catch (error) {
    throw errnoOf(error) === "ENOTDIR" ? notADirectory(path) : failureOf(error, path);
  }
}
