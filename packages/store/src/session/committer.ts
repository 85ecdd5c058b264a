// Group commit: what all sessions of a store have taken goes to disk in one transaction, when somebody
// waits for it, or soon. Whoever asks in the same turn of the event loop shares it.

import type { AtCrashPoint, StoreError } from "../contract/index.ts";
import { asStoreError, rollBack, type Database } from "../sqlite/index.ts";

/** A session with something to commit. */
export interface Pending {
  /** Inside the transaction; may be called again when the transaction failed. */
  write(): void;
  /** After it. */
  committed(): void;
}

export interface Committer {
  /** There is something new; it is committed soon, or now when it grew large. */
  note(pending: Pending, bytes: number): void;
  /** Settles when all that was noted is on disk; nothing to wait for when it is. */
  flush(): void | Promise<void>;
  /** All of it, now. Throws a StoreError, and then everything is still there to be tried again. */
  commit(): void;
  /** Why the last attempt failed, until one succeeds. */
  readonly failure: StoreError | undefined;
  stop(): void;
}

export interface CommitterOptions {
  readonly database: Database;
  readonly path: string;
  readonly at?: AtCrashPoint | undefined;
}

/** How long a fact nobody waits for may stay in memory. */
const SOON_MS = 50;

/** More than this is not held back. */
const LARGE = 4 * 1024 * 1024;

export function createCommitter({ database, path, at }: CommitterOptions): Committer {
  const waiting = new Set<Pending>();
  let held = 0;
  let failure: StoreError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let shared: Promise<void> | undefined;

  return {
    note(pending, bytes) {
      waiting.add(pending);
      held += bytes;
      if (held > LARGE) attempt();
      // Not taken off the event loop: a program that just ends has its last facts on disk.
      else timer ??= setTimeout(attempt, SOON_MS);
    },
    flush() {
      if (waiting.size === 0) return;
      shared ??= new Promise((resolve, reject) => {
        setImmediate(() => {
          shared = undefined;
          try {
            commit();
            resolve();
          } catch (error) {
            reject(error as StoreError);
          }
        });
      });
      return shared;
    },
    commit,
    get failure() {
      return failure;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };

  /** For nobody in particular: the failure is told to whoever comes next. */
  function attempt(): void {
    try {
      commit();
    } catch {
      // Kept in `failure`.
    }
  }

  function commit(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    try {
      at?.("commit.before");
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const pending of waiting) pending.write();
        at?.("commit.written");
        database.exec("COMMIT");
      } catch (error) {
        rollBack(database);
        throw error;
      }
    } catch (error) {
      failure = asStoreError(error, path);
      throw failure;
    }
    failure = undefined;
    held = 0;
    const done = [...waiting];
    waiting.clear();
    at?.("commit.after");
    for (const pending of done) pending.committed();
  }
}
