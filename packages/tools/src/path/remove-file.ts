// Takes a judged file away if it still is what it is expected to be: under the lock of that file, through
// its directory's handle, like every other change of a file.

import { unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { checkScene } from "./check-scene.ts";
import { withFileLock } from "@soong/platform";
import { openDirectory } from "./open-directory.ts";
import { platformOpening } from "./opening.ts";
import { changedSinceApproval, failureOf } from "./path-failure.ts";
import type { Opening } from "./pinned-node.ts";
import { type Target, isStill, readPreImage } from "./pre-image.ts";

export interface FileRemoval {
  /** Canonical. */
  path: string;
  /** sha256 (hex) of what must be there. */
  expected: string;
  lockDirectory: string;
  signal?: AbortSignal | undefined;
}

export async function removeFile(
  { path, expected, lockDirectory, signal }: FileRemoval,
  opening: Opening = platformOpening,
): Promise<void> {
  await withFileLock(path, { lockDirectory, signal }, async (lock) => {
    const directory = await openDirectory(dirname(path), opening);
    try {
      const target: Target = { path, name: directory.entry(basename(path)), opening };
      const before = await readPreImage(target);
      if (before?.sha256 !== expected) {
        throw changedSinceApproval(path, before === undefined ? "was removed" : "was changed");
      }
      await checkScene(path, directory, lock);
      if (!(await isStill(before, target))) {
        throw changedSinceApproval(path, "was changed");
      }
      signal?.throwIfAborted();
      await unlink(target.name);
      await directory.flush();
    } catch (error) {
      throw failureOf(error, path);
    } finally {
      await directory.close();
    }
  });
}
