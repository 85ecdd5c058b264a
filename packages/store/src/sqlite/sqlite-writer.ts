// Writing to SQLite: transactions behind what sessions have taken, and one process to a session.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isProcessAlive } from "@soong/platform";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { Durability, Store } from "../contract/store.ts";
import type { SqliteCommitter } from "./sqlite-committer.ts";
import { readHolder, type Holder, type SessionRow } from "../session/rows.ts";
import { listed, sql, type SqlWriter, type Steps } from "../sql/sql.ts";
import type { SessionHolds, TakenSession } from "../store/store-writer.ts";
import { sessionName, type StoreTables } from "../store/store-tables.ts";
import { pauseMs } from "./locks.ts";
import { takeLock, type OpenedDatabase, type SessionLock } from "./open-database.ts";
import type { SqliteRunner } from "./run-steps.ts";
import { asStoreError } from "./sqlite-error.ts";

export interface SqliteWriterParts extends Pick<OpenedDatabase, "turn" | "path"> {
  readonly runner: SqliteRunner;
  readonly committer: SqliteCommitter;
  readonly busyTimeoutMs: number;
  readonly durability?: Durability | undefined;
}

/** On SQLite a transaction is done when it returns. */
export interface SqliteWriter extends SqlWriter {
  transaction<T>(steps: () => Steps<T>, sync?: "synced" | "unsynced"): T;
}

export function createSqliteWriter(parts: SqliteWriterParts): SqliteWriter {
  const { runner, committer, turn, path, busyTimeoutMs } = parts;
  return {
    // What sessions have taken goes first, to keep the order of things.
    transaction(steps, sync = "synced") {
      committer.commit();
      const isSynced = sync === "synced" || parts.durability === "full";
      return within(() => turn.begin(isSynced), steps);
    },
    /** The process has heartbeats to send and calls to run. */
    async patientTransaction(steps) {
      const until = performance.now() + busyTimeoutMs;
      for (;;) {
        try {
          committer.commit();
          return within(turn.tryBegin, steps);
        } catch (error) {
          const isBusy = error instanceof StoreError && error.code === "store_locked";
          if (!isBusy || performance.now() >= until) throw error;
        }
        // Many processes claim steps at the same time: each waits a little, not the same, and asks again.
        await delay(2 * pauseMs());
      }
    },
  };

  function within<T>(begin: () => void, steps: () => Steps<T>): T {
    try {
      begin();
    } catch (error) {
      throw asStoreError(error, path);
    }
    try {
      const done = runner.runNow(steps());
      runner.runNow(sql`COMMIT`);
      return done;
    } catch (error) {
      try {
        runner.runNow(sql`ROLLBACK`);
      } catch {
        // SQLite has done so already.
      }
      throw error;
    }
  }
}

export interface FileHoldsParts extends Pick<OpenedDatabase, "open" | "path"> {
  readonly runner: SqliteRunner;
  readonly writer: SqliteWriter;
  readonly tables: StoreTables;
  readonly home: string;
  readonly clock: { now(): number };
  readonly at?: AtCrashPoint | undefined;
}

export function createFileHolds(parts: FileHoldsParts): SessionHolds {
  const { runner, writer, tables, home, clock, at } = parts;
  return {
    async take(session_id, insert) {
      const lock = lockSession(session_id);
      if (lock === undefined) return undefined;
      try {
        at?.("session.locked");
        return writer.transaction(() => takeUnder(lock, session_id, insert), "unsynced");
      } catch (error) {
        lock.release();
        throw error;
      }
    },
    lock: async (session_id) => lockSession(session_id),
    async describeHolder(session_id) {
      const holder = readHolder(runner.runNow(tables.knownRow(session_id)));
      return holder === undefined
        ? "another process"
        : `process ${holder.pid}, since ${holder.since}`;
    },
  };

  function* takeUnder(
    lock: SessionLock,
    session_id: string,
    insert?: () => Steps<unknown>,
  ): Steps<TakenSession> {
    if (insert !== undefined) yield* insert();
    // Read under the lock: its last holder may just have written.
    const row = yield* tables.knownRow(session_id);
    const { session_no } = row;
    const last = readHolder(row);
    const here: Holder = {
      pid: process.pid,
      since: new Date(clock.now()).toISOString(),
      // Until a holder lets go, the next one has to look at everything since: a folder may lag behind.
      seq: last?.seq ?? row.last_seq,
    };
    yield* sql`UPDATE sessions SET holder = ${JSON.stringify(here)} WHERE session_no = ${session_no}`;
    const hold = {
      release: () => lock.release(),
      end: () => sql`UPDATE sessions SET holder = NULL WHERE session_no = ${session_no}`,
    };
    return { row, hold, abandonedAt: last?.seq };
  }

  function lockSession(session_id: string): SessionLock | undefined {
    try {
      return takeLock(parts.open, join(home, "store", "locks", sessionName(session_id)));
    } catch (error) {
      throw asStoreError(error, parts.path);
    }
  }
}

/** Which of these sessions a process of this machine holds. */
export function createFindHeld(runner: SqliteRunner): Store["heldSessions"] {
  return async (session_ids) => {
    const rows = runner.runNow(sql<Pick<SessionRow, "session_id" | "holder">>`
      SELECT session_id, holder FROM ${listed(session_ids)}
      JOIN sessions ON session_id = value WHERE holder IS NOT NULL`);
    return rows.flatMap(({ session_id, holder }) => {
      const { pid = 0 } = readHolder({ holder }) ?? {};
      return pid > 0 && isProcessAlive(pid) ? [session_id] : [];
    });
  };
}
