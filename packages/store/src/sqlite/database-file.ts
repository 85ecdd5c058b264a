// What is checked of the database file before SQLite opens it: that it is a file of its owner alone (SQLite gives the
// files beside it the same rights), and that its disk has room.

import { closeSync, lstatSync, openSync, statfsSync } from "node:fs";
import { StoreError } from "../contract/index.ts";

/**
 * Never opens one that is there: the system would drop every lock this process has on it when we closed
 * it again, and a pipe would hold us up for ever.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  refuseUnlessFile(path);
}

/** A link is refused as well: its author would choose what we write to. */
export function refuseUnlessFile(path: string): void {
  if (lstatSync(path).isFile()) return;
  throw new StoreError(
    "not_a_store",
    `${path} is not an ordinary file, so it is no store of Soong. Nothing was changed; move it away, or give another directory.`,
  );
}

// SQLite maps a file of 4 KiB pages into memory and claims one byte of each. On a disk with smaller blocks the rest of
// a page has no room yet, and touching it when the disk is full kills the process (SIGBUS). So on such a disk we stop a
// little before it is full.

const MAPPED_PAGE = 4096;

/** More than SQLite maps before it writes the next commit. */
const RESERVE_BYTES = 1024 * 1024;

/** To be called before anything is opened or committed there. */
export function createRoomCheck(directory: string): () => void {
  const { bsize } = statfsSync(directory);
  if (bsize >= MAPPED_PAGE) return () => {};
  return () => {
    const { bavail } = statfsSync(directory);
    if (bavail * bsize >= RESERVE_BYTES) return;
    throw new StoreError(
      "store_full",
      `The store in ${directory}: less than 1 MiB is left on that disk; free some space and open it again.`,
    );
  };
}
