// The database file: ours alone, in WAL mode, at the version this program knows, or a clear reason why not.

import { accessSync, constants, existsSync, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StoreError } from "../contract/index.ts";
import { loadSqlite, type Database, type OpenDatabase } from "./driver.ts";
import { latestVersion, migrate, refuseForeign } from "./migrate.ts";
import { makePrivateFile, refuseUnlessFile } from "./private-file.ts";
import { asStoreError, isCannotOpen, isLocked, isReadOnly } from "./sqlite-error.ts";

export interface OpenedDatabase {
  readonly database: Database;
  readonly path: string;
  readonly open: OpenDatabase;
}

export interface DatabasePlace {
  /** Made already, and private. */
  readonly directory: string;
  readonly readOnly: boolean;
  readonly busyTimeoutMs: number;
}

export async function openDatabase(place: DatabasePlace): Promise<OpenedDatabase> {
  const open = await loadSqlite();
  const path = join(place.directory, "soong.db");
  try {
    const openFor = place.readOnly ? openForReading : openForWriting;
    return { database: openFor(open, path, place.busyTimeoutMs), path, open };
  } catch (error) {
    throw asStoreError(error, path);
  }
}

function openForWriting(open: OpenDatabase, path: string, timeout: number): Database {
  makePrivateFile(path);
  // Asked first: SQLite only says that it cannot be opened.
  for (const needed of [path, dirname(path)]) accessSync(needed, constants.W_OK);
  // Looked at before it is opened for writing: even closing it again may write to another program's file.
  const version = versionOf(open, path, timeout);
  return closedOnFailure(open(path, { timeout }), (database) => {
    // Only a file without tables can still take this up: then removed sessions give their room back.
    if (version === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    useWal(database, path, timeout);
    database.exec(
      "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA trusted_schema = OFF",
    );
    migrate(database, path);
    // A file that can only be read opens all the same: better to know now than at the first fact.
    database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${latestVersion()}`);
    database.exec("ROLLBACK");
  });
}

function openForReading(open: OpenDatabase, path: string, timeout: number): Database {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw missing(path);
  refuseUnlessFile(path);
  try {
    return openAs(path);
  } catch (error) {
    // Readers keep a note for writers beside the file. Where they may not, and no writer has left one,
    // there is nobody to keep it for: the file is all there is.
    if (!(isCannotOpen(error) || isReadOnly(error)) || existsSync(`${path}-wal`)) throw error;
    return openAs(`${pathToFileURL(path).href}?immutable=1`);
  }

  function openAs(name: string): Database {
    return closedOnFailure(open(name, { readOnly: true, timeout }), (database) => {
      const version = refuseForeign(database, path);
      if (version < latestVersion()) throw tooOld(path, version);
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
    // Somebody was killed while making it, and only a writer may clear up after them.
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
  const until = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      const row = database.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
      if (row.journal_mode === "wal") return;
      throw new StoreError(
        "store_unavailable",
        `The store ${path} cannot be kept there: that disk does not let processes share memory. Give a directory on a local disk.`,
      );
    } catch (error) {
      if (!isLocked(error) || Date.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function missing(path: string): StoreError {
  return new StoreError(
    "store_unavailable",
    `There is no store at ${path}. Give the directory of one, or open it for writing, which makes one.`,
  );
}

function tooOld(path: string, version: number): StoreError {
  return new StoreError(
    "store_unavailable",
    `The store ${path} has version ${version} and can be read once it was opened for writing, which brings it up to ${latestVersion()}.`,
  );
}
