// What killed writers left, wherever that is: a lock whose holder is dead names the file it was writing, and beside that
// file may be a temporary one. Only a listing of the lock directory where nothing was left.

import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { readLock, withFileLock } from "@soong/platform";
import { sweepLeftovers } from "./leftover.ts";
import { openDirectory } from "./open-directory.ts";

/** Removes their temporary files and their locks. Housekeeping: what cannot be done now is left for the next time. */
export async function clearAbandonedWrites(lockDirectory: string): Promise<void> {
  const names = await readdir(lockDirectory).catch(() => []);
  for (const name of names.filter((one) => LOCK_NAME.test(one))) {
    await clearAbandonedWrite(lockDirectory, name).catch(() => undefined);
  }
}

const LOCK_NAME = /^[0-9a-f]{64}\.lock$/;
/** Somebody else who takes it over meanwhile clears it, too. */
const WAIT_MS = 100;

async function clearAbandonedWrite(lockDirectory: string, name: string): Promise<void> {
  const lock = await readLock(join(lockDirectory, name));
  if (lock?.path === undefined || !(await lock.isAbandoned())) {
    return;
  }
  const { path } = lock;
  // It counts only as the lock of this path: another name for it would take another lock.
  await withFileLock(path, { lockDirectory, waitMs: WAIT_MS }, async ({ found }) => {
    if (found !== "abandoned") {
      return;
    }
    const directory = await openDirectory(dirname(path));
    try {
      await sweepLeftovers(directory, basename(path), found);
    } finally {
      await directory.close();
    }
  });
}
