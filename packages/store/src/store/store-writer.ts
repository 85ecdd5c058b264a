// The half of a store that writes: sessions held by this process, their removal, their folders.

import { join } from "node:path";
import type { Clock, IdSource } from "@soong/core";
import { FIRST_PREV_HASH } from "../chain/chain.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { NewSession, OpenSession, Store, Durability } from "../contract/store.ts";
import { createFolderQueue, openRunFolders } from "../folder/run-folders.ts";
import { committedFacts, holdSession, type SessionInHand } from "../session/open-session.ts";
import { createCommitter } from "../session/committer.ts";
import {
  formatOpenState,
  NOTHING_OPEN,
  readHolder,
  type Holder,
  type SessionRow,
} from "../session/rows.ts";
import { createAsk, writeStatements } from "../session/statements.ts";
import type { Query } from "../sqlite/query.ts";
import { asColumn, asStoreError, isPlain } from "../sqlite/sqlite-error.ts";

import { type OpenedDatabase, takeLock, type SessionLock } from "../sqlite/open-database.ts";
import { rebuildTables } from "./rebuild-tables.ts";
import { createRemoval } from "./removal.ts";
import { sessionName, type StoreTables } from "./store-tables.ts";

export interface StoreWriter extends Pick<
  Store,
  | "createSession"
  | "openSession"
  | "removeSession"
  | "applyRetention"
  | "rebuildSession"
  | "rebuildRunFolder"
  | "runFolderProblems"
  | "close"
> {
  /** Everything the work does, or nothing; waits for others who write. `unsynced`: as facts of reading (STORE-6). */
  transaction<T>(work: () => T, sync?: "synced" | "unsynced"): T;
  /** The same; refused soon while someone else writes. */
  tryTransaction<T>(work: () => T): T;
}

export interface StoreWriterParts extends OpenedDatabase {
  readonly query: Query;
  readonly tables: StoreTables;
  readonly home: string;
  readonly ids: IdSource;
  readonly clock: Pick<Clock, "now">;
  readonly busyTimeoutMs: number;
  readonly durability?: Durability | undefined;
  readonly at?: AtCrashPoint | undefined;
}

export async function createStoreWriter(parts: StoreWriterParts): Promise<StoreWriter> {
  const { database, path, query, tables, home, ids, clock, turn, files, at } = parts;
  const folders = openRunFolders({ directory: join(home, "runs"), ...(at ? { at } : {}) });
  const folderQueue = createFolderQueue(folders);
  const committer = createCommitter(parts);
  const statements = writeStatements(database);
  const ask = createAsk(database);
  const held = new Set<SessionInHand>();
  const opening = new Set<Promise<unknown>>();
  let isClosing = false;
  const removal = createRemoval({
    query,
    transaction,
    lock: lockSession,
    folders,
    home,
    clock,
    at,
  });
  await removal.finishOthers();

  return {
    createSession,
    openSession,
    removeSession: async (session_id, reason) =>
      removal.remove(tables.knownRow(session_id), reason),
    applyRetention: (retention) => removal.applyRetention(retention),
    async rebuildSession(session_id) {
      tables.knownRow(session_id);
      const lock = lockSession(session_id);
      if (lock === undefined) throw inUse(session_id);
      try {
        transaction(() => {
          const row = tables.knownRow(session_id);
          rebuildTables(tables.placeOf(row), row, statements);
        });
      } finally {
        lock.release();
      }
    },
    async rebuildRunFolder(run_id) {
      const [row] = query<SessionRow>`SELECT sessions.* FROM runs JOIN sessions USING (session_no)
        WHERE run_id = ${run_id}`;
      if (row === undefined) throw new StoreError("run_unknown", `No session has a run ${run_id}.`);
      const place = tables.placeOf(row);
      folderQueue.write();
      return folders.rebuild(run_id, (after) => committedFacts(place, run_id, after));
    },
    runFolderProblems: () => folders.problems(),
    transaction,
    tryTransaction,
    async close() {
      try {
        await closeSessions();
      } finally {
        committer.stop();
        folderQueue.write();
        folders.close();
      }
    },
  };

  /** All of them, even if one fails: no lock may stay behind. */
  async function closeSessions(): Promise<void> {
    isClosing = true;
    await Promise.allSettled(opening);
    const sessions = [...held];
    const closed = await Promise.allSettled(sessions.map(({ session }) => session.close()));
    for (const one of sessions) one.abandon();
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  }

  async function createSession(given: NewSession = {}): Promise<OpenSession> {
    const session_id = given.session_id ?? ids.next("session");
    if (session_id === "" || !isPlain(session_id)) {
      const message =
        "A session's id is a text of at least one character, without NUL or half a character.";
      throw new StoreError("entry_refused", message);
    }
    return openWith(session_id, () => {
      refuseExisting(session_id);
      const now = new Date(clock.now()).toISOString();
      const { title, project } = given;
      query`INSERT INTO sessions (session_id, created_at, updated_at, title, project, last_seq, head_hash,
           bytes, open_state)
         VALUES (${session_id}, ${now}, ${now}, ${asColumn(title)}, ${asColumn(project)}, 0, ${FIRST_PREV_HASH}, 0, ${formatOpenState(NOTHING_OPEN)})`;
    });
  }

  function refuseExisting(session_id: string): void {
    if (tables.row(session_id) === undefined && tables.tombstone(session_id) === undefined) return;
    throw alreadyExists(session_id);
  }

  function alreadyExists(session_id: string): StoreError {
    return new StoreError("session_exists", `There is a session ${session_id}, or there was.`);
  }

  async function openSession(session_id: string): Promise<OpenSession> {
    return openWith(session_id);
  }

  /** Closing waits for it: a session that is opened meanwhile must not keep its lock. */
  async function openWith(session_id: string, insert?: () => void): Promise<OpenSession> {
    if (isClosing) throw new StoreError("store_closed", `The store ${path} is being closed.`);
    const opened = hold(session_id, insert);
    opening.add(opened);
    try {
      return await opened;
    } finally {
      opening.delete(opened);
    }
  }

  /** `insert`: adds the row of a new one. */
  async function hold(session_id: string, insert?: () => void): Promise<OpenSession> {
    // Before the lock, too: one that is not there, or must not be, gets no lock file.
    if (insert === undefined) tables.knownRow(session_id);
    else refuseExisting(session_id);
    const lock = lockSession(session_id);
    // Of a new one, someone else is just making it.
    if (lock === undefined)
      throw insert === undefined ? inUse(session_id) : alreadyExists(session_id);
    try {
      at?.("session.locked");
      const { row, before } = transaction(() => {
        insert?.();
        // Read under the lock: its last holder may just have written.
        const known = tables.knownRow(session_id);
        const last = readHolder(known);
        const here: Holder = {
          pid: process.pid,
          since: new Date(clock.now()).toISOString(),
          // Until a holder lets go, the next one has to look at everything since: a folder may lag behind.
          seq: last?.seq ?? known.last_seq,
        };
        query`UPDATE sessions SET holder = ${JSON.stringify(here)} WHERE session_no = ${known.session_no}`;
        return { row: known, before: last };
      }, "unsynced");
      at?.("session.held");
      const inHand: SessionInHand = await holdSession(
        {
          ask,
          committer,
          transaction,
          files,
          statements,
          folders,
          folderQueue,
          ids,
          clock,
          at,
        },
        {
          row,
          place: tables.placeOf(row),
          lock,
          abandonedAt: before?.seq,
          onClose: () => held.delete(inHand),
        },
      );
      held.add(inHand);
      return inHand.session;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  function lockSession(session_id: string): SessionLock | undefined {
    try {
      return takeLock(parts.open, join(home, "store", "locks", sessionName(session_id)));
    } catch (error) {
      throw asStoreError(error, path);
    }
  }

  function inUse(session_id: string): StoreError {
    const holder = readHolder(tables.knownRow(session_id));
    const by =
      holder === undefined ? "another process" : `process ${holder.pid}, since ${holder.since}`;
    return new StoreError(
      "session_in_use",
      `Session ${session_id} is in use by ${by}. End that first, or continue with another session.`,
    );
  }

  /** Everything the work does, or nothing. What sessions have taken goes first, to keep the order of things. */
  function transaction<T>(work: () => T, sync: "synced" | "unsynced" = "synced"): T {
    committer.commit();
    const isSynced = sync === "synced" || parts.durability === "full";
    return within(() => turn.begin(isSynced), work);
  }

  function tryTransaction<T>(work: () => T): T {
    committer.commit();
    return within(turn.tryBegin, work);
  }

  function within<T>(begin: () => void, work: () => T): T {
    try {
      begin();
    } catch (error) {
      throw asStoreError(error, path);
    }
    try {
      const done = work();
      query`COMMIT`;
      return done;
    } catch (error) {
      try {
        query`ROLLBACK`;
      } catch {
        // SQLite has done so already.
      }
      throw error;
    }
  }
}
