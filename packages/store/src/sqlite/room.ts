// SQLite maps a file of 4 KiB pages into memory and claims one byte of each. On a disk with smaller blocks the rest of
// a page has no room yet, and touching it when the disk is full kills the process without a word (SIGBUS). So on such a
// disk we stop a little before it is full.

import { statfsSync } from "node:fs";
import { StoreError } from "../contract/index.ts";

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
