// Puts new bytes in the place of a judged file, whole or not at all (CODE-4, EDIT-6), or takes it away: under
// the lock of that file, only if it still is what the change was planned on, through its directory's handle.
// The new file keeps the permission bits and, where we may set them, owner and group; it has this name
// only: other hard links keep the old bytes, and extended attributes are not copied.

import { createHash } from "node:crypto";
import { type BigIntStats, accessSync, constants, fstatSync } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { readErrno, isSameNode, readFully, withFileLock } from "@soong/platform";
import { type VerifiedDirectory, makeDirectories } from "./open-directory.ts";
import { type FileStamp, stampFrom } from "./open-regular-file.ts";
import {
  accessDenied,
  changedSinceApproval,
  toPathFailure,
  notARegularFile,
  pathChanged,
} from "./path-failure.ts";
import {
  type Opening,
  type PinnedNode,
  readKind,
  pinJudged,
  platformOpening,
} from "./pinned-node.ts";
import { lookAtNode } from "./resolve-path.ts";
import { sweepLeftovers, writeTemporaryFile } from "./temporary-file.ts";

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
  const { path, bytes, mode } = commit;
  return changeFile(commit, opening, async ({ directory, target, before, checkScene }) => {
    const rights = { like: before?.stats, mode };
    const temporary = await writeTemporaryFile(directory, basename(path), bytes, rights);
    try {
      await checkScene();
      if (before === undefined) await placeNewFile(temporary.path, target);
      else await rename(temporary.path, target.name);
      const stats = fstatSync(temporary.handle.fd, { bigint: true });
      const created = before === undefined;
      return { created, mode: Number(stats.mode) & 0o7777, stamp: stampFrom(stats) };
    } finally {
      await temporary.discard();
    }
  });
}

export interface FileRemoval {
  /** Canonical. */
  path: string;
  /** sha256 (hex) of what must be there. */
  expected: string;
  lockDirectory: string;
  signal?: AbortSignal | undefined;
}

export async function removeFile(
  removal: FileRemoval,
  opening: Opening = platformOpening,
): Promise<void> {
  await changeFile({ ...removal, createDirs: false }, opening, async ({ target, checkScene }) => {
    await checkScene();
    await unlink(target.name);
  });
}

interface Scene {
  readonly directory: VerifiedDirectory;
  readonly target: Target;
  readonly before: PreImage | undefined;
  /** The last look before the change is made: what it was planned on may have changed meanwhile. */
  readonly checkScene: () => Promise<void>;
}

async function changeFile<Result>(
  change: Omit<FileCommit, "bytes" | "mode">,
  opening: Opening,
  make: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const { path, expected, createDirs, lockDirectory, signal } = change;
  return withFileLock(path, { lockDirectory, signal }, async (lock) => {
    const place = await makeDirectories(dirname(path), opening, createDirs);
    const { directory } = place;
    const target: Target = { path, name: directory.entry(basename(path)), opening };
    try {
      await sweepLeftovers(directory, basename(path), lock.found);
      const before = await readPreImage(target);
      if (before?.sha256 !== (expected ?? undefined)) {
        const changed = expected === null ? "appeared" : "was changed";
        throw changedSinceApproval(path, before === undefined ? "was removed" : changed);
      }
      const checkScene = async (): Promise<void> => {
        if (!directory.isAtJudgedPath()) throw pathChanged(path);
        // After a long standstill the lock may have been given to another.
        if (!lock.isHeld()) {
          throw changedSinceApproval(path, "may have been written by another process");
        }
        if (before !== undefined && !(await isStill(before, target))) {
          throw changedSinceApproval(path, "was changed");
        }
        signal?.throwIfAborted();
      };
      const result = await make({ directory, target, before, checkScene });
      await directory.flush();
      return result;
    } catch (error) {
      await place.undo();
      const errno = readErrno(error) ?? "";
      if (errno === "ENOENT") throw pathChanged(path);
      // The file itself was found writable: it is its directory that refuses.
      const isRefused = ["EACCES", "EPERM", "EROFS"].includes(errno);
      throw toPathFailure(error, isRefused ? directory.path : path);
    } finally {
      await place.close();
    }
  });
}

/**
 * Gives a temporary file the name of a file that must not exist yet: one that appeared meanwhile is never
 * overwritten. The temporary name may be left, as a second one of the same file. `makeLink` is for tests.
 */
export async function placeNewFile(
  temporaryPath: string,
  { path, name }: Pick<Target, "path" | "name">,
  makeLink: typeof link = link,
): Promise<void> {
  try {
    await makeLink(temporaryPath, name).catch(async (error: unknown) => {
      if (!CANNOT_LINK.has(readErrno(error) ?? "")) throw error;
      // An empty file takes the name, then the whole one replaces it.
      await (await open(name, "wx")).close();
      await rename(temporaryPath, name).catch(async (failed: unknown) => {
        await unlink(name);
        throw failed;
      });
    });
  } catch (error) {
    throw readErrno(error) === "EEXIST" ? changedSinceApproval(path, "appeared") : error;
  }
}

/** What file systems without hard links answer. */
const CANNOT_LINK = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

/**
 * What is at a target before it is replaced: its hash for comparison, what of it must be kept, and whether it is
 * still the same just before the rename (EDIT-6).
 */
export interface PreImage {
  readonly sha256: string;
  /** From before its bytes were read, so that a write during the read shows. */
  readonly stats: BigIntStats;
  readonly readAtMs: number;
}

/** A judged path, and the way to it through the handle of its directory. */
export interface Target {
  readonly path: string;
  readonly name: string;
  readonly opening: Opening;
}

/** undefined: nothing is there. The file must be regular and one that may be written. */
export async function readPreImage(target: Target): Promise<PreImage | undefined> {
  const { path, name, opening } = target;
  const readAtMs = Date.now();
  let node: PinnedNode | undefined;
  let handle: FileHandle | undefined;
  try {
    node = pinJudged(path, opening, name);
    checkWritable(path, node);
    handle = await node.reopen(constants.O_RDONLY);
    const stats = fstatSync(handle.fd, { bigint: true });
    return { sha256: await hashFile(handle, Number(stats.size)), stats, readAtMs };
  } catch (error) {
    if (readErrno(error) === "ENOENT") return undefined;
    throw toPathFailure(error, path);
  } finally {
    await handle?.close();
    node?.close();
  }
}

/** Whether the file at the target is still the one that was read; cheap when nothing touched it. */
export async function isStill(before: PreImage, target: Target): Promise<boolean> {
  const now = lookAtNode(target.name);
  if (now !== undefined && isUntouched(before.stats, now) && !couldHideAWrite(before)) return true;
  const again = await readPreImage(target);
  return (
    again?.sha256 === before.sha256 &&
    again.stats.mode === before.stats.mode &&
    again.stats.uid === before.stats.uid &&
    again.stats.gid === before.stats.gid
  );
}

/**
 * File systems keep time in ticks: a write in the same tick as the last one before our read leaves the
 * times as they were. Only a file that was not changed for longer than a tick is safe from that.
 */
export function couldHideAWrite({ stats, readAtMs }: PreImage): boolean {
  return Number(stats.ctimeNs / 1_000_000n) > readAtMs - LONGEST_TICK_MS;
}

const LONGEST_TICK_MS = 20;
const CHUNK_BYTES = 1024 * 1024;

function isUntouched(before: BigIntStats, now: BigIntStats): boolean {
  return (
    isSameNode(before, now) &&
    before.size === now.size &&
    before.mtimeNs === now.mtimeNs &&
    before.ctimeNs === now.ctimeNs
  );
}

/**
 * Replacing a file needs rights on its directory only, yet the user who made a file read-only meant it: one
 * that no one may write is refused, to root as well, and so is one that we may not write.
 */
function checkWritable(path: string, { stats, name }: PinnedNode): void {
  const kind = readKind(stats);
  if (kind === "symlink") throw pathChanged(path);
  if (kind !== "file") throw notARegularFile(path, kind);
  try {
    if ((Number(stats.mode) & 0o222) !== 0) return accessSync(name, constants.W_OK);
  } catch (error) {
    if (readErrno(error) !== "EACCES" && readErrno(error) !== "EPERM") throw error;
  }
  throw accessDenied(path, "the file is read-only");
}

/** Stops soon after `size`: a file that keeps growing is not the expected one anyway. */
async function hashFile(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
  for (let position = 0; position <= size; position += chunk.length) {
    const bytes = await readFully(handle, chunk, position);
    hash.update(bytes);
    if (bytes.length < chunk.length) break;
  }
  return hash.digest("hex");
}
