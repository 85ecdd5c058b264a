// Holds exactly the directory that was judged, so that what is in it can be reached through the handle; also
// one whose missing part is made first, step by step, so that no link put in the way is followed.

import { constants } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { readErrno } from "@soong/platform";
import { toPathFailure, isFileNotFound, notADirectory } from "./path-failure.ts";
import {
  type Opening,
  type PinnedNode,
  readKind,
  pinJudged,
  platformOpening,
} from "./pinned-node.ts";

export interface VerifiedDirectory {
  readonly path: string;
  /** A path to that name in this very directory; "." for the directory itself (to list it). */
  entry(name: string): string;
  isAtJudgedPath(): boolean;
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
  let node: PinnedNode;
  try {
    node = pinJudged(path, opening, name);
  } catch (error) {
    throw readErrno(error) === "ENOTDIR" ? notADirectory(path) : toPathFailure(error, path);
  }
  if (readKind(node.stats) !== "directory") {
    node.close();
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
    isAtJudgedPath: node.isAtJudgedPath,
    async flush() {
      try {
        const handle = await node.reopen(constants.O_RDONLY | constants.O_DIRECTORY);
        try {
          await handle.sync();
        } finally {
          await handle.close();
        }
      } catch {
        // A directory that may not be read, or a file system that cannot: what was done in it remains.
      }
    },
    close: async () => node.close(),
  };
}

/** Opens `path` and, where `create` is set, makes what is missing of it. */
export async function makeDirectories(path: string, opening: Opening, create = true) {
  const open: VerifiedDirectory[] = [];
  const made: string[] = [];
  /** Removes those that were made here and are still empty. */
  const undo = async (): Promise<void> => {
    // Someone else's file in one, or someone else's hand: then it is not ours to remove.
    for (const entry of made.toReversed()) await rmdir(entry).catch(() => undefined);
  };
  /** Closes everything, `directory` too. */
  const close = async (): Promise<void> => {
    await Promise.all(open.map((each) => each.close()));
  };
  const openOrMake = async (at: string): Promise<VerifiedDirectory> => {
    try {
      return await openDirectory(at, opening);
    } catch (error) {
      if (!create || at === "/" || !isFileNotFound(error)) throw error;
    }
    const parent = await openOrMake(dirname(at));
    open.push(parent);
    const entry = parent.entry(basename(at));
    try {
      await mkdir(entry);
      made.push(entry);
    } catch (error) {
      // Someone else was quicker.
      if (readErrno(error) !== "EEXIST") throw toPathFailure(error, at);
    }
    return openDirectory(at, opening, entry);
  };
  try {
    const directory = await openOrMake(path);
    open.push(directory);
    return { directory, undo, close };
  } catch (error) {
    await undo();
    await close();
    throw error;
  }
}
