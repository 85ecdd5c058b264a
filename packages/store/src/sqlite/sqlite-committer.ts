// Group commit: what all sessions of a store have taken goes to disk in one transaction, when someone
// waits for it, or soon. Callers in the same turn of the event loop share it.

import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Durability } from "../contract/store.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { Committer, Pending } from "../session/committer.ts";
import type { Batch } from "../session/write-rows.ts";
import { pauseMs, type BeginTransaction } from "./locks.ts";
import { rollBack } from "./migrate.ts";
import type { OpenedDatabase } from "./open-database.ts";
import { asStoreError, isConstraint } from "./sqlite-error.ts";

/** On SQLite a commit is done when it returns. */
export interface SqliteCommitter extends Committer {
  commit(): void;
  /** Why the last attempt failed, until one succeeds. */
  readonly failure: StoreError | undefined;
}

export interface CommitterOptions extends Pick<
  OpenedDatabase,
  "database" | "path" | "turn" | "files" | "checkRoom"
> {
  readonly write: (batch: Batch) => void;
  /** How long those who need not block the process wait for another one that is writing. */
  readonly busyTimeoutMs: number;
  readonly durability?: Durability | undefined;
  readonly at?: AtCrashPoint | undefined;
}

/** How long a fact no one waits for may stay in memory. */
const SOON_MS = 50;

/** More than this is not held back. */
const LARGE = 4 * 1024 * 1024;

export function createCommitter(options: CommitterOptions): SqliteCommitter {
  const { database, path, turn, files, checkRoom, busyTimeoutMs, durability, at } = options;
  const waiting = new Set<Pending>();
  let held = 0;
  let failure: StoreError | undefined;
  let timer: NodeJS.Timeout | undefined;
  let shared: Promise<void> | undefined;
  /** Since when another process has kept us waiting. */
  let waitingSince: number | undefined;

  return {
    note(pending, bytes) {
      waiting.add(pending);
      held += bytes;
      if (held > LARGE) attemptSoon();
      // Not taken off the event loop: a program that just ends has its last facts on disk.
      else timer ??= setTimeout(attemptSoon, SOON_MS);
    },
    flush() {
      if (waiting.size === 0) return;
      shared ??= inTurn();
      return shared;
    },
    commit: () => commit(turn.begin),
    refuseFailed() {
      if (failure !== undefined) commit(turn.begin);
    },
    check() {
      try {
        files.check();
      } catch (error) {
        fail(error);
      }
    },
    drop(pending) {
      waiting.delete(pending);
      if (waiting.size === 0) failure = undefined;
    },
    get failure() {
      return failure;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };

  async function inTurn(): Promise<void> {
    await nextTurn();
    while (tryCommit() === "busy") await delay(pauseMs());
  }

  /** For no one in particular: the failure is reported to the next caller. */
  function attemptSoon(): void {
    try {
      if (tryCommit() === "busy") timer = setTimeout(attemptSoon, pauseMs());
    } catch {
      // Kept in `failure`.
    }
  }

  /** Without blocking the process, which has heartbeats to send and calls to run. */
  function tryCommit(): "done" | "busy" {
    // A caller from now on may bring something that is not part of this one.
    const joined = shared;
    shared = undefined;
    try {
      commit(turn.tryBegin);
      return "done";
    } catch (error) {
      const isBusy = error instanceof StoreError && error.code === "store_locked";
      waitingSince ??= performance.now();
      if (!isBusy || performance.now() - waitingSince >= busyTimeoutMs) throw error;
      failure = undefined;
      shared = joined;
      return "busy";
    }
  }

  function commit(begin: BeginTransaction): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    // Nothing more is written to what is damaged or gone.
    if (failure?.code === "store_corrupted" || failure?.code === "store_lost") throw failure;
    try {
      write([...waiting], begin);
    } catch (error) {
      if (!isConstraint(findCause(error))) fail(error);
      // One of them is at fault; the others must not suffer for it.
      for (const pending of waiting) writeAlone(pending);
    }
    failure = undefined;
    waitingSince = undefined;
  }

  function write(together: readonly Pending[], begin: BeginTransaction): void {
    at?.("commit.before");
    checkRoom();
    files.check();
    begin(durability === "full" || together.some(({ mustSync }) => mustSync));
    const batches = together.map((pending) => ({ pending, batch: pending.take() }));
    try {
      for (const { batch } of batches) options.write(batch);
      at?.("commit.written");
      database.exec("COMMIT");
      // Once more: a fact counts as recorded when the file it went to was in its place afterwards.
      files.check();
    } catch (error) {
      rollBack(database);
      for (const { pending } of batches) pending.putBack();
      throw error;
    }
    held = 0;
    for (const { pending } of batches) waiting.delete(pending);
    at?.("commit.after");
    // All of them are notified, even if one throws: what is committed must not be written again.
    let thrown: { error: unknown } | undefined;
    for (const { pending, batch } of batches) {
      try {
        pending.committed(batch);
      } catch (error) {
        thrown ??= { error };
      }
    }
    if (thrown !== undefined) throw thrown.error;
  }

  function writeAlone(pending: Pending): void {
    try {
      write([pending], turn.begin);
    } catch (error) {
      if (!isConstraint(findCause(error))) fail(error);
      waiting.delete(pending);
      pending.refused(asRefusal(error));
    }
  }

  function fail(error: unknown): never {
    failure = asStoreError(error, path);
    throw failure;
  }
}

function asRefusal(error: unknown): StoreError {
  const { message } = findCause(error) as Error;
  const code = message.includes("runs.run_id") ? "run_exists" : "entry_refused";
  const why = `The journal took what another process has taken meanwhile (${message}).`;
  return new StoreError(code, why, { cause: error });
}

/** As SQLite said it. */
function findCause(error: unknown): unknown {
  return error instanceof StoreError ? (error.cause ?? error) : error;
}
