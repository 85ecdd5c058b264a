// The store on SQLite: one database for all sessions of a home directory, artifacts and run folders beside
// it. Several processes may have it open at once.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { randomIds, systemClock, type Clock, type IdSource } from "@soong/core";
import { privateDirectory } from "../artifacts/index.ts";
import { FIRST_PREV_HASH } from "../chain/index.ts";
import {
  StoreError,
  type AtCrashPoint,
  type NewSession,
  type OpenSession,
  type SessionPage,
  type Store,
  type Tombstone,
} from "../contract/index.ts";
import { openRunFolders } from "../folder/index.ts";
import {
  committedFacts,
  createCommitter,
  holdSession,
  runRecord,
  sessionReader,
  sessionRecord,
  writeStatements,
  type Query,
  type RunRow,
  type SessionPlace,
  type SessionRow,
} from "../session/index.ts";
import { asStoreError, openDatabase, takeLock, type SessionLock } from "../sqlite/index.ts";
import { createRemoval } from "./removal.ts";
import { sessionName } from "./session-name.ts";
import { verifySession } from "./verify-session.ts";

export interface StoreOptions {
  /** The home directory: the database goes to `store/`, artifacts to `artifacts/`, runs to `runs/`. */
  readonly directory: string;
  /** Nothing is written, not even a newer version of the tables. */
  readonly readOnly?: boolean;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: IdSource;
  /** How long to wait for another process that is writing. Left out: 5 seconds. */
  readonly busyTimeoutMs?: number;
  /** For tests that kill the process at the worst moment. */
  readonly at?: AtCrashPoint;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;
const DEFAULT_PAGE = 100;

export async function openStore(options: StoreOptions): Promise<Store> {
  const { readOnly = false, at, ids = randomIds(), clock = systemClock() } = options;
  const home = options.directory;
  const directory = join(home, "store");
  if (!readOnly) await makeDirectories(home, directory);
  const { database, path, open } = await openDatabase({
    directory,
    readOnly,
    busyTimeoutMs: options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS,
  });
  const folders = openRunFolders({ directory: join(home, "runs"), ...(at ? { at } : {}) });
  const committer = createCommitter({ database, path, at });
  const statements = writeStatements(database);
  const held = new Set<OpenSession>();
  let isOpen = true;
  const removal = createRemoval({ query, transaction, lock: lockOf, folders, home, clock, at });
  if (!readOnly) await removal.finishOthers();

  return {
    createSession,
    async openSession(session_id) {
      refuseReadOnly();
      refuseRemoved(session_id);
      return hold(session_id);
    },
    async readSession(session_id) {
      return sessionReader(placeOf(knownRow(session_id)));
    },
    async sessions(page = {}) {
      return sessionRows(page).map(sessionRecord);
    },
    async findRun(run_id) {
      const [row] = query(
        "SELECT runs.*, session_id FROM runs JOIN sessions USING (session_no) WHERE run_id = ?",
        run_id,
      ) as (RunRow & { session_id: string })[];
      return row && runRecord(row, row.session_id);
    },
    async verify(session_id, verifyOptions = {}) {
      const tombstone = tombstoneOf(session_id);
      if (tombstone !== undefined) return verifyRemoved(tombstone, verifyOptions.head);
      const row = knownRow(session_id);
      return verifySession(placeOf(row), row, verifyOptions);
    },
    async removeSession(session_id, reason) {
      refuseReadOnly();
      refuseRemoved(session_id);
      return removal.remove(knownRow(session_id), reason);
    },
    tombstones: async () =>
      (query("SELECT * FROM tombstones ORDER BY removed_at, rowid") as TombstoneRow[]).map(
        tombstoneRecord,
      ),
    async applyRetention(retention) {
      refuseReadOnly();
      return removal.applyRetention(retention);
    },
    async rebuildRunFolder(run_id) {
      refuseReadOnly();
      const [row] = query(
        "SELECT sessions.* FROM runs JOIN sessions USING (session_no) WHERE run_id = ?",
        run_id,
      ) as SessionRow[];
      if (row === undefined) throw new StoreError("run_unknown", `No session has a run ${run_id}.`);
      const place = placeOf(row);
      return folders.rebuild(run_id, (after) => committedFacts(place, run_id, after));
    },
    async close() {
      if (!isOpen) return;
      try {
        for (const session of held) await session.close();
      } finally {
        isOpen = false;
        committer.stop();
        folders.close();
        database.close();
      }
    },
  };

  async function createSession(given: NewSession = {}): Promise<OpenSession> {
    refuseReadOnly();
    const session_id = given.session_id ?? ids.next("session");
    if (session_id === "") throw new StoreError("entry_refused", "A session needs an id.");
    const now = new Date(clock.now()).toISOString();
    const { title = null, project = null } = given;
    transaction(() => {
      if (rowOf(session_id) !== undefined || tombstoneOf(session_id) !== undefined) {
        throw new StoreError("session_exists", `There is a session ${session_id}, or there was.`);
      }
      query(
        `INSERT INTO sessions (session_id, created_at, updated_at, title, project, last_seq, head_hash, bytes)
         VALUES (?, ?, ?, ?, ?, 0, ?, 0)`,
        session_id,
        now,
        now,
        title,
        project,
        FIRST_PREV_HASH,
      );
    });
    return hold(session_id);
  }

  async function hold(session_id: string): Promise<OpenSession> {
    const lock = lockOf(session_id);
    if (lock === undefined) throw inUse(session_id);
    try {
      at?.("session.locked");
      // Read under the lock: whoever had it may just have written.
      const row = knownRow(session_id);
      const { holder } = row;
      const here = {
        pid: process.pid,
        since: new Date(clock.now()).toISOString(),
        seq: row.last_seq,
      };
      query(
        "UPDATE sessions SET holder = ? WHERE session_no = ?",
        JSON.stringify(here),
        row.session_no,
      );
      const session: OpenSession = await holdSession(
        { database, committer, statements, folders, ids, clock, at },
        {
          row,
          place: placeOf(row),
          lock,
          abandonedAt: holder === null ? undefined : (JSON.parse(holder) as Holder).seq,
          onClose: () => held.delete(session),
        },
      );
      held.add(session);
      return session;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  function lockOf(session_id: string): SessionLock | undefined {
    refuseClosed();
    try {
      return takeLock(open, join(directory, "locks", sessionName(session_id)));
    } catch (error) {
      throw asStoreError(error, path);
    }
  }

  function inUse(session_id: string): StoreError {
    const row = rowOf(session_id);
    if (row === undefined) return unknown(session_id);
    const { pid, since } = JSON.parse(row.holder ?? "{}") as Partial<Holder>;
    const by = pid === undefined ? "another process" : `process ${pid}, since ${since}`;
    return new StoreError(
      "session_in_use",
      `Session ${session_id} is in use by ${by}. End that first, or go on with another session.`,
    );
  }

  function placeOf({ session_no, session_id }: SessionRow): SessionPlace {
    const artifactDirectory = join(home, "artifacts", sessionName(session_id));
    return { query, session_no, session_id, path, artifactDirectory };
  }

  function rowOf(session_id: string): SessionRow | undefined {
    return query("SELECT * FROM sessions WHERE session_id = ?", session_id)[0] as
      | SessionRow
      | undefined;
  }

  function knownRow(session_id: string): SessionRow {
    const row = rowOf(session_id);
    if (row !== undefined) return row;
    refuseRemoved(session_id);
    throw unknown(session_id);
  }

  function sessionRows({ limit = DEFAULT_PAGE, after }: SessionPage): SessionRow[] {
    const most = Math.max(0, Math.floor(limit) || 0);
    if (after === undefined) {
      return query(
        "SELECT * FROM sessions ORDER BY updated_at DESC, session_id DESC LIMIT ?",
        most,
      ) as SessionRow[];
    }
    return query(
      `SELECT * FROM sessions WHERE (updated_at, session_id) < (?, ?)
       ORDER BY updated_at DESC, session_id DESC LIMIT ?`,
      after.updated_at,
      after.session_id,
      most,
    ) as SessionRow[];
  }

  function tombstoneOf(session_id: string): Tombstone | undefined {
    const [row] = query(
      "SELECT * FROM tombstones WHERE session_id = ?",
      session_id,
    ) as TombstoneRow[];
    return row && tombstoneRecord(row);
  }

  function refuseRemoved(session_id: string): void {
    const tombstone = tombstoneOf(session_id);
    if (tombstone === undefined) return;
    const { removed_at, reason } = tombstone;
    throw new StoreError(
      "session_removed",
      `Session ${session_id} was removed at ${removed_at}${reason === undefined ? "" : ` (${reason})`}.`,
    );
  }

  function refuseReadOnly(): void {
    refuseClosed();
    if (!readOnly) return;
    throw new StoreError("store_read_only", `The store ${path} was opened for reading only.`);
  }

  function refuseClosed(): void {
    if (!isOpen)
      throw new StoreError("store_closed", `The store ${path} is closed; open it again.`);
  }

  function query(...[sql, ...values]: Parameters<Query>): object[] {
    refuseClosed();
    try {
      return database.prepare(sql).all(...values) as object[];
    } catch (error) {
      throw asStoreError(error, path);
    }
  }

  /** Everything the work does, or nothing. What sessions have taken goes first, to keep the order of things. */
  function transaction<T>(work: () => T): T {
    committer.commit();
    query("BEGIN IMMEDIATE");
    try {
      const done = work();
      query("COMMIT");
      return done;
    } catch (error) {
      try {
        query("ROLLBACK");
      } catch {
        // SQLite has done so already.
      }
      throw error;
    }
  }
}

interface Holder {
  pid: number;
  since: string;
  seq: number;
}

type TombstoneRow = Omit<Tombstone, "reason"> & { reason: string | null };

function tombstoneRecord(row: TombstoneRow): Tombstone {
  const { session_id, created_at, removed_at, reason, last_seq, head_hash } = row;
  return {
    session_id,
    created_at,
    removed_at,
    ...(reason === null ? {} : { reason }),
    last_seq,
    head_hash,
  };
}

function verifyRemoved(
  removed: Tombstone,
  head: string | undefined,
): Awaited<ReturnType<Store["verify"]>> {
  const { last_seq, head_hash } = removed;
  if (head === undefined || head === head_hash) return { ok: true, facts: 0, head_hash, removed };
  const message = `The session was removed with another head hash, ${head_hash}.`;
  return { ok: false, facts: 0, problem: { seq: last_seq, kind: "head", message } };
}

function unknown(session_id: string): StoreError {
  return new StoreError("session_unknown", `There is no session ${session_id}.`);
}

async function makeDirectories(home: string, directory: string): Promise<void> {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    await privateDirectory(directory);
    await privateDirectory(join(directory, "locks"));
  } catch (error) {
    throw asStoreError(error, directory);
  }
}
