// The database file: ours alone, in WAL mode, at the version this program knows, or a clear reason why not.

import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  statSync,
  closeSync,
  openSync,
  statfsSync,
  type BigIntStats,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import { loadSqlite, type Database, type OpenDatabase } from "./driver.ts";
import { addMissingTables, latestVersion, migrate, refuseForeign } from "./migrate.ts";
import { asStoreError, isCannotOpen, isReadOnly, isLocked } from "./sqlite-error.ts";
import { createWriteTurn, patiently, type WriteTurn } from "./locks.ts";

export interface OpenedDatabase {
  readonly database: Database;
  readonly path: string;
  readonly open: OpenDatabase;
  readonly turn: WriteTurn;
  readonly files: OpenedFiles;
  /** Throws `store_full` where writing on would be dangerous. */
  readonly checkRoom: () => void;
}

export interface DatabasePlace {
  /** Made already, and private. */
  readonly directory: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;
  readonly at?: AtCrashPoint | undefined;
}

export async function openDatabase(place: DatabasePlace): Promise<OpenedDatabase> {
  const open = await loadSqlite();
  const path = join(place.directory, "soong.db");
  try {
    const checkRoom = existsSync(place.directory) ? createRoomCheck(place.directory) : () => {};
    checkRoom();
    const openFor = place.readOnly ? openForReading : openForWriting;
    const database = openFor(open, path, place);
    const turn = createWriteTurn(database, place.busyTimeoutMs);
    return { database, path, open, turn, files: watchOpenedFiles(path, open), checkRoom };
  } catch (error) {
    throw asStoreError(error, path);
  }
}

function openForWriting(open: OpenDatabase, path: string, place: DatabasePlace): Database {
  const { busyTimeoutMs: timeout, at } = place;
  makePrivateFile(path);
  // Asked first: SQLite only says that it cannot be opened.
  for (const needed of [path, dirname(path)]) accessSync(needed, constants.W_OK);
  // Looked at before it is opened for writing: even closing it again may write to another program's file.
  const version = readVersion(open, path, timeout);
  return closedOnFailure(open(path, { timeout }), (database) => {
    // Only a file without tables can still take this up: then removed sessions give their room back.
    if (version === 0) {
      at?.("create.file");
      database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    }
    useWal(database, path, timeout);
    if (version === 0) at?.("create.wal");
    database.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA trusted_schema = OFF",
    );
    const turn = createWriteTurn(database, timeout);
    migrate(database, path, undefined, turn);
    if (version === 0) at?.("create.tables");
    // A file that can only be read opens all the same: better to know now than at the first fact.
    turn.begin();
    database.exec(`PRAGMA user_version = ${latestVersion()}; ROLLBACK`);
  });
}

function openForReading(open: OpenDatabase, path: string, place: DatabasePlace): Database {
  const { busyTimeoutMs: timeout } = place;
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw missing(path);
  refuseUnlessFile(path);
  try {
    return openAs(path);
  } catch (error) {
    if (isReadOnly(error) && isUnfinished(path)) {
      return closedOnFailure(open(":memory:"), (database) => addMissingTables(database, 0));
    }
    // Readers keep a note for writers beside the file. Where they may not, and no writer has left one,
    // there is no one to keep it for: the file is all there is.
    if (!(isCannotOpen(error) || isReadOnly(error)) || existsSync(`${path}-wal`)) throw error;
    return openAs(`${pathToFileURL(path).href}?immutable=1`);
  }

  function openAs(name: string): Database {
    return closedOnFailure(open(name, { readOnly: true, timeout }), (database) => {
      const version = refuseForeign(database, path);
      if (version < latestVersion()) addMissingTables(database, version);
    });
  }
}

function readVersion(open: OpenDatabase, path: string, timeout: number): number {
  if (statSync(path).size === 0) return 0;
  let version = 0;
  try {
    closedOnFailure(open(path, { readOnly: true, timeout }), (database) => {
      version = refuseForeign(database, path);
    }).close();
  } catch (error) {
    // Someone was killed while making it, and only a writer may clear up after them.
    if (!isReadOnly(error)) throw error;
  }
  return version;
}

function closedOnFailure(database: Database, work: (database: Database) => void): Database {
  try {
    work(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Changing the mode does not wait for others who open a new file at the same time; so we do. */
function useWal(database: Database, path: string, busyTimeoutMs: number): void {
  patiently(busyTimeoutMs, () => {
    const row = database.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
    if (row.journal_mode === "wal") return;
    throw new StoreError(
      "store_unavailable",
      `The store ${path} cannot be kept there: that disk does not let processes share memory. Give a directory on a local disk.`,
    );
  });
}

/** Only while it is made does it have a file of this name beside it: its maker was killed, and it holds nothing. */
function isUnfinished(path: string): boolean {
  return existsSync(`${path}-journal`);
}

function missing(path: string): StoreError {
  return new StoreError(
    "store_absent",
    `There is no store at ${path}. Give the directory of one, or open it for writing, which makes one.`,
  );
}

// What is checked of the database file before SQLite opens it: that it is a file of its owner alone (SQLite gives the
// files beside it the same rights), and that its disk has room.

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
    `${path} is not an ordinary file, so it is not a store of Soong. Nothing was changed; move it away, or give another directory.`,
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

// Whether what this process has open is still what is at its path. A file that was removed, moved or replaced takes
// every write all the same, and the record is lost without a word; so it is looked at after each commit.

export interface OpenedFiles {
  /** Throws `store_lost` when one of them is not there any more, is another one, or was cut short. */
  check(): void;
  /** A directory that belongs to the record from now on, until the returned function is called. */
  watch(directory: string): () => void;
}

interface Seen {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Undefined for a directory. */
  size: bigint | undefined;
}

/** The database and the two files SQLite keeps beside it; no one removes those while we have it open. */
const SUFFIXES = ["", "-wal", "-shm"];

export function watchOpenedFiles(path: string, open: OpenDatabase): OpenedFiles {
  const watched = new Set<Seen>();
  for (const suffix of SUFFIXES) add(`${path}${suffix}`);
  return {
    check() {
      for (const seen of watched) checkOne(seen);
    },
    watch(directory) {
      const seen = add(directory);
      return () => {
        if (seen !== undefined) watched.delete(seen);
      };
    },
  };

  function add(of: string): Seen | undefined {
    const stats = readStats(of);
    if (stats === undefined) return undefined;
    const { dev, ino, size } = stats;
    const seen = { path: of, dev, ino, size: stats.isFile() ? size : undefined };
    watched.add(seen);
    return seen;
  }

  function checkOne(seen: Seen): void {
    const stats = readStats(seen.path);
    if (stats === undefined) throw lost(seen.path, "was removed or moved away");
    if (stats.ino !== seen.ino || stats.dev !== seen.dev) {
      throw lost(seen.path, "was replaced by another one");
    }
    if (seen.size === undefined || seen.size === stats.size) return;
    if (stats.size < seen.size && !isWhole(stats.size)) throw lost(seen.path, "was cut short");
    seen.size = stats.size;

    /** Removing sessions gives room back in the database, and only there; anything else takes facts away. */
    function isWhole(size: bigint): boolean {
      return seen.path === path && size > 0n && isSound();
    }
  }

  /** By a connection of its own: this process may still have in memory what the file has lost. */
  function isSound(): boolean {
    try {
      const fresh = open(path, { readOnly: true });
      try {
        const rows = fresh.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
        return rows.length === 1 && rows[0]?.quick_check === "ok";
      } finally {
        fresh.close();
      }
    } catch {
      return false;
    }
  }

  function lost(what: string, how: string): StoreError {
    const where = what === path ? `The store ${path}` : `${what}, which is part of the store,`;
    return new StoreError(
      "store_lost",
      `${where} ${how} while this process had it open. Nothing more is done or recorded. What was recorded before is in the file that was there: put it back, or start again with an empty home.`,
    );
  }

  function readStats(of: string): BigIntStats | undefined {
    try {
      return statSync(of, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      throw asStoreError(error, of);
    }
  }
}

// One writer per session, across processes: an exclusive lock of SQLite on an empty file of the session's
// own. The system frees it the moment the process is gone, however that came about.
// Nothing else may ever open that file: closing it would free the lock.

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
