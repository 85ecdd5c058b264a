// Puts new bytes in the place of a judged file, whole or not at all (CODE-4, EDIT-6): under the lock of
// that file, only if it still is what the change was planned on, by a temporary file and a rename in its
// directory's handle. The new file keeps the permission bits and, where we may set them, owner and group;
// it has this name only: other hard links keep the old bytes, and extended attributes are not copied.

import { rename } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { checkScene } from "./check-scene.ts";
import { type HeldLock, errnoOf, withFileLock } from "@soong/platform";
import { type FileStamp, stampFrom } from "./file-stamp.ts";
import { sweepLeftovers } from "./leftover.ts";
import { type MadeDirectories, makeDirectories } from "./make-directories.ts";
import { type VerifiedDirectory, openDirectory } from "./open-directory.ts";
import { platformOpening } from "./opening.ts";
import { changedSinceApproval, failureOf, pathChanged } from "./path-failure.ts";
import type { Opening } from "./pinned-node.ts";
import { placeNewFile } from "./place-new-file.ts";
import { type PreImage, type Target, isStill, readPreImage } from "./pre-image.ts";
import { type TemporaryFile, writeTemporaryFile } from "./temporary-file.ts";

export interface FileCommit {
  /** Canonical. */
  path: string;
  bytes: Uint8Array;
  /** sha256 (hex) of what must be there; null: nothing may be. */
  expected: string | null;
  createDirs: boolean;
  lockDirectory: string;
  /** The permission bits, when not those of the old file (or the umask's for a new one). */
  mode?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface CommittedFile {
  created: boolean;
  mode: number;
  stamp: FileStamp;
}

export async function commitFile(
  commit: FileCommit,
  opening: Opening = platformOpening,
): Promise<CommittedFile> {
  const { path, lockDirectory, signal } = commit;
  return withFileLock(path, { lockDirectory, signal }, async (lock) => {
    const place = await openPlace(commit, opening);
    try {
      return await replace(commit, { directory: place.directory, lock, opening });
    } catch (error) {
      await place.undo();
      throw error;
    } finally {
      await place.close();
    }
  });
}

interface Scene {
  readonly directory: VerifiedDirectory;
  readonly lock: HeldLock;
  readonly opening: Opening;
}

async function openPlace(commit: FileCommit, opening: Opening): Promise<MadeDirectories> {
  const path = dirname(commit.path);
  if (commit.createDirs) {
    return makeDirectories(path, opening);
  }
  const directory = await openDirectory(path, opening);
  return { directory, undo: () => Promise.resolve(), close: () => directory.close() };
}

async function replace(commit: FileCommit, scene: Scene): Promise<CommittedFile> {
  const { path, bytes, mode, signal } = commit;
  const { directory, lock, opening } = scene;
  const name = basename(path);
  const target: Target = { path, name: directory.entry(name), opening };
  await sweepLeftovers(directory, name, lock.found);
  const before = await readPreImage(target);
  checkExpected(commit, before);
  let temporary: TemporaryFile | undefined;
  try {
    temporary = await writeTemporaryFile(directory, name, bytes, { like: before?.stats, mode });
    await checkScene(path, directory, lock);
    if (before !== undefined && !(await isStill(before, target))) {
      throw changedSinceApproval(path, "was changed");
    }
    signal?.throwIfAborted();
    await (before === undefined
      ? placeNewFile(temporary.path, target)
      : rename(temporary.path, target.name));
    const stats = await temporary.handle.stat({ bigint: true });
    await directory.flush();
    return {
      created: before === undefined,
      mode: Number(stats.mode) & 0o7777,
      stamp: stampFrom(stats),
    };
  } catch (error) {
    throw commitFailure(error, path, directory);
  } finally {
    await temporary?.discard();
  }
}

function checkExpected({ path, expected }: FileCommit, before: PreImage | undefined): void {
  if (before?.sha256 === (expected ?? undefined)) {
    return;
  }
  if (before === undefined) {
    throw changedSinceApproval(path, "was removed");
  }
  throw changedSinceApproval(path, expected === null ? "appeared" : "was changed");
}

function commitFailure(error: unknown, path: string, directory: VerifiedDirectory): unknown {
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case "ENOENT":
      return pathChanged(path);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      // The file itself was found writable: it is its directory that refuses.
      return failureOf(error, directory.path);
    default:
      return failureOf(error, path);
  }
}
