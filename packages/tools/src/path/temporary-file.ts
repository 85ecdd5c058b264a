// The file that is written beside its target and then takes its place: its name, its bytes and its rights; and
// what killed writers left behind of this kind.

import { createHash, randomBytes } from "node:crypto";
import { type BigIntStats, constants, fstatSync } from "node:fs";
import { type FileHandle, lstat, open, opendir, readdir, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { readErrno, readLock, withFileLock } from "@soong/platform";
import { cutToBytes } from "../text/text-format.ts";
import { type VerifiedDirectory, openDirectory } from "./open-directory.ts";

export interface Rights {
  /** The file to be replaced. */
  readonly like: BigIntStats | undefined;
  /** Overrides the permission bits. */
  readonly mode: number | undefined;
}

/** Its bytes are on the disk when this returns. */
export async function writeTemporaryFile(
  directory: VerifiedDirectory,
  target: string,
  bytes: Uint8Array,
  rights: Rights,
) {
  const path = directory.entry(temporaryName(target));
  // A new file gets the rights that the umask and the directory give to any; the others are private
  // until theirs are set.
  const isPlain = rights.like === undefined && rights.mode === undefined;
  const handle = await open(path, CREATE_NEW, isPlain ? 0o666 : 0o600);
  /** Closes it and removes its name, if that is still there. */
  const discard = async (): Promise<void> => {
    await unlink(path).catch(() => undefined);
    await handle.close();
  };
  try {
    await handle.writeFile(bytes);
    if (!isPlain) await setRights(handle, rights);
    await handle.sync();
    return { path, handle, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Set-user-id, set-group-id and sticky bits are dropped: they vouched for the old bytes. */
async function setRights(handle: FileHandle, { like, mode }: Rights): Promise<void> {
  const bits = (mode ?? Number(like?.mode ?? 0n)) & 0o777;
  const isGroupKept = like === undefined || (await keepOwner(handle, like));
  // What the old group might do is no business of the new one, beyond what everyone may.
  await handle.chmod(isGroupKept ? bits : bits & (0o707 | ((bits & 0o007) << 3)));
}

/** Owner and group where we may, else the group alone. False: another group has the file now. */
async function keepOwner(handle: FileHandle, like: BigIntStats): Promise<boolean> {
  const own = fstatSync(handle.fd, { bigint: true });
  if (own.uid === like.uid && own.gid === like.gid) return true;
  for (const uid of [like.uid, own.uid]) {
    try {
      await handle.chown(Number(uid), Number(like.gid));
      return true;
    } catch (error) {
      // EINVAL: the id means nothing in this user namespace.
      if (readErrno(error) !== "EPERM" && readErrno(error) !== "EINVAL") throw error;
    }
  }
  return false;
}

/**
 * `.<target>.soong-<mark><random>.tmp`, never longer than a name may be. It tells whose it is: readable by
 * users, and marked with a hash of the target's whole name, because a long name has to be cut.
 */
export function temporaryName(target: string): string {
  const tail = `.soong-${hashName(target)}${randomBytes(6).toString("hex")}.tmp`;
  return `.${cutToBytes(target, MOST_NAME_BYTES - 1 - tail.length)}${tail}`;
}

/** Whether a name is that of a temporary file, and if so whether it is one of `target`. */
export function readTemporaryName(name: string, target: string): "of_target" | "of_another" | "no" {
  const mark = /^\..*\.soong-([0-9a-f]{8})[0-9a-f]{12}\.tmp$/su.exec(name)?.[1];
  if (mark === undefined) return "no";
  return mark === hashName(target) ? "of_target" : "of_another";
}

const MOST_NAME_BYTES = 255;

function hashName(target: string): string {
  return createHash("sha256").update(target).digest("hex").slice(0, 8);
}

/**
 * Removes the temporary files that killed writers left in a directory: those of `target`, whose lock the
 * caller holds (so that no one is writing one now), and any of this user that is older than a write ever takes.
 * Once a process and directory, or when the lock was found abandoned: a listing is too dear for every commit.
 */
export async function sweepLeftovers(
  directory: VerifiedDirectory,
  target: string,
  found: "free" | "abandoned",
): Promise<void> {
  if (found === "free" && SWEPT.has(directory.path)) return;
  if (SWEPT.size >= MOST_REMEMBERED) SWEPT.clear();
  SWEPT.add(directory.path);
  try {
    for await (const { name } of await opendir(directory.entry("."))) {
      const whose = readTemporaryName(name, target);
      if (whose === "no") continue;
      const stats = await lstat(directory.entry(name));
      const isOurs = stats.isFile() && stats.uid === (process.geteuid?.() ?? stats.uid);
      const isOver = whose === "of_target" || Date.now() - stats.mtimeMs > OLD_MS;
      if (isOurs && isOver) await rm(directory.entry(name), { force: true });
    }
  } catch (error) {
    // Housekeeping only: a directory that cannot be listed can be written to all the same.
    if (readErrno(error) === undefined) throw error;
  }
}

const OLD_MS = 60 * 60 * 1000;
const MOST_REMEMBERED = 1000;
const SWEPT = new Set<string>();

/**
 * Removes the temporary files and the locks of killed writers, wherever the files are: a lock whose holder is
 * dead names the file it was writing. Housekeeping: what cannot be done now is left for the next time.
 */
export async function clearAbandonedWrites(lockDirectory: string): Promise<void> {
  const names = await readdir(lockDirectory).catch(() => []);
  for (const name of names.filter((one) => LOCK_NAME.test(one))) {
    await clearAbandonedWrite(lockDirectory, name).catch(() => undefined);
  }
}

const LOCK_NAME = /^[0-9a-f]{64}\.lock$/;
/** Someone else who takes it over meanwhile clears it, too. */
const WAIT_MS = 100;

async function clearAbandonedWrite(lockDirectory: string, name: string): Promise<void> {
  const lock = await readLock(join(lockDirectory, name));
  if (lock?.path === undefined || !(await lock.isAbandoned())) return;
  const { path } = lock;
  // It counts only as the lock of this path: another name for it would take another lock.
  await withFileLock(path, { lockDirectory, waitMs: WAIT_MS }, async ({ found }) => {
    if (found !== "abandoned") return;
    const directory = await openDirectory(dirname(path));
    try {
      await sweepLeftovers(directory, basename(path), found);
    } finally {
      await directory.close();
    }
  });
}
