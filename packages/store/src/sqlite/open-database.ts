// The database file: ours alone, in WAL mode, at the version this program knows, or a clear reason why not.

import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StoreError, type AtCrashPoint } from "../contract/index.ts";
import { loadSqlite, type Database, type OpenDatabase } from "./driver.ts";
import { addMissingTables, latestVersion, migrate, refuseForeign } from "./migrate.ts";
import { watchOpenedFiles, type OpenedFiles } from "./opened-files.ts";
import { createRoomCheck, makePrivateFile, refuseUnlessFile } from "./database-file.ts";
import { asStoreError, isCannotOpen, isReadOnly } from "./sqlite-error.ts";
import { createWriteTurn, patiently, type WriteTurn } from "./write-turn.ts";

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
  const version = versionOf(open, path, timeout);
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

function versionOf(open: OpenDatabase, path: string, timeout: number): number {
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
    "store_unavailable",
    `There is no store at ${path}. Give the directory of one, or open it for writing, which makes one.`,
  );
}
