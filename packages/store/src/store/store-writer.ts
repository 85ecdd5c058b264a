// The half of a store that writes: sessions held by this process, their removal, their folders.

import { join } from "node:path";
import type { Clock, IdSource } from "@soong/core";
import { FIRST_PREV_HASH } from "../chain/chain.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { NewSession, OpenSession, Store } from "../contract/store.ts";
import { openOwnFolders } from "../folder/own-folders.ts";
import { createFolderQueue, openRunFolders } from "../folder/run-folders.ts";
import {
  holdSession,
  isStillHeld,
  readRun,
  type SessionHold,
  type SessionInHand,
} from "../session/open-session.ts";
import type { Committer } from "../session/committer.ts";
import { formatOpenState, NOTHING_OPEN, type SessionRow } from "../session/rows.ts";
import type { SessionTables } from "../session/session-tables.ts";
import { asColumn, isPlain } from "../sql/columns.ts";
import { listed, sql, sqlRow, type SqlDatabase, type SqlWriter, type Steps } from "../sql/sql.ts";
import { rebuildTables } from "./rebuild-tables.ts";
import { createRemoval, type RemovalParts, type RemovedFiles } from "./removal.ts";
import type { StoreTables } from "./store-tables.ts";

export type StoreWriter = Pick<
  Store,
  | "createSession"
  | "openSession"
  | "removeSession"
  | "applyRetention"
  | "rebuildSession"
  | "rebuildRunFolder"
  | "runFolderProblems"
  | "close"
>;

export interface StoreWriterParts {
  readonly database: SqlDatabase;
  readonly writer: SqlWriter;
  readonly tables: StoreTables;
  readonly committer: Committer;
  readonly holds: SessionHolds;
  readonly files: RemovedFiles;
  /** Of a store that machines share: which one it is, wherever it is reached. */
  readonly identity?: string;
  readonly findTables: (row: SessionRow) => SessionTables | Promise<SessionTables>;
  readonly home: string;
  readonly ids: IdSource;
  readonly clock: Pick<Clock, "now">;
  readonly databaseClock?: RemovalParts["databaseClock"];
  readonly at?: AtCrashPoint | undefined;
}

/** Who writes to which session: one process at a time, wherever it is. */
export interface SessionHolds {
  /** `insert`: adds the row of a new one. Undefined when someone has it. */
  take(session_id: string, insert?: () => Steps<unknown>): Promise<TakenSession | undefined>;
  /** For work that is not on record, while no one has it. */
  lock(session_id: string): Promise<Pick<SessionHold, "release" | "isHeld"> | undefined>;
  /** Who has it, for a message. */
  describeHolder(session_id: string): Promise<string>;
}

export interface TakenSession {
  readonly row: SessionRow;
  readonly hold: SessionHold;
  /** The last seq when it was opened before, if that holder never let go. */
  readonly abandonedAt: number | undefined;
}

export async function createStoreWriter(parts: StoreWriterParts): Promise<StoreWriter> {
  const { database, writer, tables, committer, holds, home, ids, clock, at } = parts;
  const own =
    parts.identity === undefined
      ? undefined
      : openOwnFolders(join(home, "store", "folders", parts.identity));
  const folders = openRunFolders({
    directory: join(home, "runs"),
    ...(at ? { at } : {}),
    ...(own && { onMade: (...made) => own.note(...made) }),
  });
  const folderQueue = createFolderQueue(folders);
  const held = new Set<SessionInHand>();
  const opening = new Set<Promise<unknown>>();
  let isClosing = false;
  const removal = createRemoval({
    database,
    writer,
    lock: ({ session_id }) => holds.lock(session_id),
    files: parts.files,
    folders,
    clock,
    databaseClock: parts.databaseClock,
    at,
  });
  await removal.finishOthers();
  await own?.sweep(findRemoved, (run_id) => folders.remove(run_id));

  return {
    createSession,
    openSession: (session_id) => openWith(session_id),
    removeSession: async (session_id, reason) =>
      removal.remove(await database.run(tables.knownRow(session_id)), reason),
    applyRetention: (retention) => removal.applyRetention(retention),
    async rebuildSession(session_id) {
      await database.run(tables.knownRow(session_id));
      const lock = await holds.lock(session_id);
      if (lock === undefined) throw await inUse(session_id);
      try {
        const isDone = await writer.transaction(function* () {
          const row = yield* tables.knownRow(session_id);
          if (!(yield* isStillHeld(lock, row.session_no))) return false;
          yield* rebuildTables(tables.placeOf(row), row);
          return true;
        });
        if (!isDone) throw await inUse(session_id);
      } finally {
        await lock.release();
      }
    },
    async rebuildRunFolder(run_id) {
      const row = await database.run(sqlRow<SessionRow>`SELECT sessions.* FROM runs
        JOIN sessions USING (session_no) WHERE run_id = ${run_id}`);
      if (row === undefined) throw new StoreError("run_unknown", `No session has a run ${run_id}.`);
      folderQueue.write();
      return folders.rebuild(run_id, await readRun(tables.placeOf(row), run_id));
    },
    runFolderProblems: () => folders.problems(),
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

  async function findRemoved(session_ids: readonly string[]): Promise<readonly string[]> {
    const rows = await database.run(sql<{ session_id: string }>`SELECT session_id FROM tombstones
      JOIN ${listed(session_ids)} ON session_id = value
      WHERE session_id NOT IN (SELECT session_id FROM sessions)`);
    return rows.map(({ session_id }) => session_id);
  }

  /** All of them, even if one fails: no lock may stay behind. */
  async function closeSessions(): Promise<void> {
    isClosing = true;
    await Promise.allSettled(opening);
    const sessions = [...held];
    const closed = await Promise.allSettled(sessions.map(({ session }) => session.close()));
    for (const one of sessions) await one.abandon();
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  }

  async function createSession(given: NewSession = {}): Promise<OpenSession> {
    const session_id = given.session_id ?? ids.next("session");
    if (session_id === "" || !isPlain(session_id)) {
      const message =
        "A session's id is a text of at least one character, without NUL or half a character.";
      throw new StoreError("entry_refused", message);
    }
    return openWith(session_id, function* () {
      yield* refuseExisting(session_id);
      const now = new Date(clock.now()).toISOString();
      const { title, project } = given;
      yield* sql`INSERT INTO sessions (session_id, created_at, updated_at, title, project, last_seq, head_hash,
           bytes, open_state)
         VALUES (${session_id}, ${now}, ${now}, ${asColumn(title)}, ${asColumn(project)}, 0, ${FIRST_PREV_HASH}, 0, ${formatOpenState(NOTHING_OPEN)})`;
    });
  }

  function* refuseExisting(session_id: string): Steps<void> {
    if ((yield* tables.row(session_id)) !== undefined) throw alreadyExists(session_id);
    if ((yield* tables.tombstone(session_id)) !== undefined) throw alreadyExists(session_id);
  }

  function alreadyExists(session_id: string): StoreError {
    return new StoreError("session_exists", `There is a session ${session_id}, or there was.`);
  }

  /** Closing waits for it: a session that is opened meanwhile must not keep its lock. */
  async function openWith(session_id: string, insert?: () => Steps<unknown>): Promise<OpenSession> {
    if (isClosing) {
      throw new StoreError("store_closed", `The store ${database.name} is being closed.`);
    }
    const opened = open(session_id, insert);
    opening.add(opened);
    try {
      return await opened;
    } finally {
      opening.delete(opened);
    }
  }

  async function open(session_id: string, insert?: () => Steps<unknown>): Promise<OpenSession> {
    // Before the lock, too: one that is not there, or must not be, gets none.
    if (insert === undefined) await database.run(tables.knownRow(session_id));
    else await database.run(refuseExisting(session_id));
    const taken = await holds.take(session_id, insert);
    // Of a new one, someone else is just making it.
    if (taken === undefined) {
      throw insert === undefined ? await inUse(session_id) : alreadyExists(session_id);
    }
    const { row, hold, abandonedAt } = taken;
    try {
      at?.("session.held");
      const inHand: SessionInHand = await holdSession(
        { ...parts, folders, folderQueue },
        {
          row,
          place: tables.placeOf(row),
          hold,
          abandonedAt,
          onClose: () => held.delete(inHand),
        },
      );
      held.add(inHand);
      return inHand.session;
    } catch (error) {
      await hold.release();
      throw error;
    }
  }

  async function inUse(session_id: string): Promise<StoreError> {
    const holder = await holds.describeHolder(session_id);
    return new StoreError(
      "session_in_use",
      `Session ${session_id} is in use by ${holder}. End that first, or continue with another session.`,
    );
  }
}
