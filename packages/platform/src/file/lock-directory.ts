// Where the locks of this user are kept: one place for every process of the user on this machine,
// independent of its environment, and a directory that no one else can put anything into.

import { accessSync, chmodSync, constants, lstatSync } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";

import { ToolFailure } from "@soong/core";
import { readErrno } from "./disk.ts";

/** In the user's own home by the user database (not $HOME); where that cannot be written, under /tmp. */
export function defaultLockDirectory(home: string | undefined = homeOfThisUser()): string {
  if (home !== undefined) {
    const locks = join(home, ".soong-agent", "locks");
    if (isWritable(locks) ?? isWritable(dirname(locks)) ?? isWritable(home) ?? false) return locks;
  }
  return `/tmp/soong-${process.geteuid?.() ?? "user"}/locks`;
}

/** Makes the directory where it is missing; refuses one that another user could tamper with. */
export async function prepareLockDirectory(directory: string): Promise<void> {
  try {
    await lstat(directory).catch((error: unknown) => {
      if (readErrno(error) !== "ENOENT") throw error;
      return mkdir(directory, { recursive: true, mode: 0o700 });
    });
    // Without another thread from here on: the disk has just answered.
    checkParent(directory);
    checkOwn(directory);
  } catch (error) {
    throw lockFailure(error, directory);
  }
}

/** What an error of the system means for the lock; what is not one goes through as it is. */
export function lockFailure(error: unknown, directory: string): unknown {
  const errno = readErrno(error);
  return errno === undefined ? error : lockUnavailable(directory, `the system says ${errno}`);
}

function lockUnavailable(directory: string, why: string): ToolFailure {
  return new ToolFailure({
    code: "lock_unavailable",
    error_class: "setup_required",
    message: `The lock directory ${JSON.stringify(directory)} cannot be used: ${why}. Nothing was written. Put that right, or configure another lock directory.`,
    recovery: "set_up_first",
    details: { directory },
  });
}

function checkOwn(directory: string): void {
  const stats = lstatSync(directory);
  if (!stats.isDirectory()) {
    throw lockUnavailable(directory, "it is not a directory (a link is not followed)");
  }
  if (stats.uid !== ourUid(stats.uid)) {
    throw lockUnavailable(directory, "it belongs to another user");
  }
  if ((stats.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

/** A user who may rename the directory away may put another in its place. */
function checkParent(directory: string): void {
  const { uid, mode } = lstatSync(dirname(directory));
  const isSticky = (mode & 0o1000) !== 0;
  if ((uid !== ourUid(uid) && uid !== 0) || ((mode & 0o002) !== 0 && !isSticky)) {
    throw lockUnavailable(directory, "other users can replace it in the directory above");
  }
}

/** A platform without user ids has nothing to compare. */
function ourUid(otherwise: number): number {
  return process.geteuid?.() ?? otherwise;
}

/** undefined: it is not there. */
function isWritable(path: string): boolean | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    return readErrno(error) === "ENOENT" ? undefined : false;
  }
}

/** A user id that a container made up has no entry in the user database. */
function homeOfThisUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
