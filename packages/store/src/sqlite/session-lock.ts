// One writer per session, across processes: an exclusive lock of SQLite on an empty file of the session's
// own. The system frees it the moment the process is gone, however that came about.
// Nothing else may ever open that file: closing it would free the lock.

import type { Database, OpenDatabase } from "./driver.ts";
import { makePrivateFile } from "./database-file.ts";
import { isLocked } from "./sqlite-error.ts";

export interface SessionLock {
  release(): void;
}

/** Undefined when someone has it. */
export function takeLock(open: OpenDatabase, path: string): SessionLock | undefined {
  makePrivateFile(path);
  let database: Database | undefined;
  try {
    database = open(path, { timeout: 0 });
    // Nothing is ever written, so there is nothing to take back: no journal file beside it.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database?.close();
    if (isLocked(error)) return undefined;
    throw error;
  }
  const held = database;
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      held.close();
    },
  };
}
