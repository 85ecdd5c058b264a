// Brings a database to the version this program knows, each step in a transaction of its own (STORE-4).

import { StoreError } from "../contract/store-error.ts";
import type { Database } from "./driver.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";
import type { WriteTurn } from "./locks.ts";

/** "Soon", in the place where SQLite keeps whose file it is. */
export const APPLICATION_ID = 0x536f6f6e;

export function migrate(
  database: Database,
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
  turn: Pick<WriteTurn, "begin"> = { begin: () => database.exec("BEGIN IMMEDIATE") },
): void {
  const latest = migrations.at(-1)?.version ?? 0;
  if (refuseForeign(database, path, latest) === latest) return;
  for (const { version, sql } of migrations) {
    // Another process may have been faster: looked at again under the lock.
    turn.begin();
    try {
      if (refuseForeign(database, path, latest) < version) {
        database.exec(sql);
        database.exec(
          `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`,
        );
      }
      database.exec("COMMIT");
    } catch (error) {
      rollBack(database);
      throw error;
    }
  }
}

/**
 * Lets a reader, who changes nothing, use a store of an older version: the tables it lacks are there for this
 * connection alone, and empty. Version 0 is a store whose making did not finish.
 */
export function addMissingTables(database: Database, version: number): void {
  for (const migration of MIGRATIONS) {
    if (migration.version > version) database.exec(forThisConnection(migration.sql));
  }
}

function forThisConnection(sql: string): string {
  return sql
    .replaceAll("CREATE TABLE ", "CREATE TEMP TABLE ")
    .replaceAll("CREATE INDEX ", "CREATE INDEX temp.");
}

/** Its version, once it is sure to be ours. */
export function refuseForeign(database: Database, path: string, latest = latestVersion()): number {
  const { version, owner, tables } = readMark(database);
  if (version === 0 && owner === 0 && tables === 0) return 0;
  if (owner !== APPLICATION_ID) {
    throw new StoreError(
      "not_a_store",
      `${path} is a database of another program, not a store of Soong. Nothing was changed; give another directory.`,
    );
  }
  if (version > latest) {
    throw new StoreError(
      "store_too_new",
      `The store ${path} has version ${version}; this Soong knows up to ${latest}. Nothing was changed; use a newer Soong.`,
    );
  }
  return version;
}

export function latestVersion(): number {
  return MIGRATIONS.at(-1)?.version ?? 0;
}

/** SQLite may have ended the transaction already, as it does when the disk is full. */
export function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is none any more.
  }
}

interface Mark {
  version: number;
  owner: number;
  tables: number;
}

/** In one statement: another process may be making the tables at this moment. */
function readMark(database: Database): Mark {
  return database
    .prepare(
      `SELECT (SELECT user_version FROM pragma_user_version) AS version,
         (SELECT application_id FROM pragma_application_id) AS owner,
         (SELECT count(*) FROM sqlite_schema) AS tables`,
    )
    .get() as Mark;
}
