// Who may write: one process at a time to the database, one to a session.

import type { Database } from "./driver.ts";
import { isLocked } from "./sqlite-error.ts";

// One process writes at a time. Everyone else waits in short attempts with random pauses: SQLite's own waiting
// sleeps longer and longer, so that among many processes the one that waited longest is passed over.

export interface WriteTurn {
  /** Begins a transaction for writing. Blocks until it is our turn, at most as long as the store waits. */
  readonly begin: BeginTransaction;
  /** The same, but refused soon, so that the process can do something else before it tries again. */
  readonly tryBegin: BeginTransaction;
}

/** `sync`: its commit waits for the disk. Without, it survives the end of the process, not that of the power (STORE-6). */
export type BeginTransaction = (sync?: boolean) => void;

/** How long SQLite itself waits in one attempt. */
const TRY_MS = 25;
const LONGEST_PAUSE_MS = 20;

export function createWriteTurn(database: Database, busyTimeoutMs: number): WriteTurn {
  let isSynced: boolean | undefined;
  return { begin: (sync) => patiently(busyTimeoutMs, () => tryBegin(sync)), tryBegin };

  function tryBegin(sync = true): void {
    if (sync !== isSynced) database.exec(`PRAGMA synchronous = ${sync ? "FULL" : "NORMAL"}`);
    isSynced = sync;
    database.exec(`PRAGMA busy_timeout = ${Math.min(TRY_MS, busyTimeoutMs)}`);
    try {
      database.exec("BEGIN IMMEDIATE");
    } finally {
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    }
  }
}

/** Attempts again while another process is writing, and blocks meanwhile. */
export function patiently<T>(ms: number, attempt: () => T): T {
  const until = performance.now() + ms;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isLocked(error) || performance.now() >= until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs());
  }
}

/** Random, so that those who wait do not all come back at once. */
export function pauseMs(): number {
  return 1 + Math.random() * LONGEST_PAUSE_MS;
}
