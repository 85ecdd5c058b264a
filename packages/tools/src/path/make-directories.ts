// Makes the missing directories of a judged path step by step, each through the handle of the one above,
// so that no link put in the way is followed; and takes them away again when what they were for failed.

import { mkdir, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { ToolFailure } from "@soong/core";

import { type VerifiedDirectory, openDirectory } from "./open-directory.ts";
import { failureOf } from "./path-failure.ts";
import { errnoOf } from "@soong/platform";
import type { Opening } from "./pinned-node.ts";

export interface MadeDirectories {
  /** The last one, open. */
  readonly directory: VerifiedDirectory;
  /** Removes those that were made here and are still empty. */
  undo(): Promise<void>;
  /** Closes everything, `directory` too. */
  close(): Promise<void>;
}

export async function makeDirectories(path: string, opening: Opening): Promise<MadeDirectories> {
  const missing: string[] = [];
  let directory = await openOrMissing(path, opening);
  for (let above = path; directory === undefined;) {
    missing.push(basename(above));
    above = dirname(above);
    directory = await openOrMissing(above, opening);
  }
  const open = [directory];
  const made: { parent: VerifiedDirectory; name: string }[] = [];
  const undo = async (): Promise<void> => {
    for (const { parent, name } of made.toReversed()) {
      // Somebody else's file in it, or somebody else's hand: then it is not ours to remove.
      await rmdir(parent.entry(name)).catch(() => undefined);
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all(open.map((each) => each.close()));
  };
  try {
    for (const name of missing.toReversed()) {
      const parent = directory;
      if (await makeOne(parent, name)) {
        made.push({ parent, name });
      }
      directory = await openDirectory(childPath(parent, name), opening, parent.entry(name));
      open.push(directory);
    }
    return { directory, undo, close };
  } catch (error) {
    await undo();
    await close();
    throw error;
  }
}

/** False: somebody else was quicker. */
async function makeOne(parent: VerifiedDirectory, name: string): Promise<boolean> {
  try {
    await mkdir(parent.entry(name));
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") {
      return false;
    }
    throw failureOf(error, childPath(parent, name));
  }
}

async function openOrMissing(path: string, opening: Opening) {
  try {
    return await openDirectory(path, opening);
  } catch (error) {
    if (error instanceof ToolFailure && error.error.code === "file_not_found" && path !== "/") {
      return undefined;
    }
    throw error;
  }
}

function childPath(parent: VerifiedDirectory, name: string): string {
  return parent.path === "/" ? `/${name}` : `${parent.path}/${name}`;
}
