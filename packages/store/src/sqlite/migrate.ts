// Brings a database to the version this program knows, each step in a transaction of its own (STORE-4).

import { StoreError } from "../contract/index.ts";
import type { Database } from "./driver.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";

/** "Soon", in the place where SQLite keeps whose file it is. */
export const APPLICATION_ID = 0x536f6f6e;

export function migrate(
  database: Database,
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const latest = migrations.at(-1)?.version ?? 0;
  if (refuseForeign(database, path, latest) === latest) return;
  for (const { version, sql } of migrations) {
    // Another process may have been faster: looked at again under the lock.
    database.exec("BEGIN IMMEDIATE");
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

/** Its version, once it is sure to be ours. */
export function refuseForeign(database: Database, path: string, latest = latestVersion()): number {
  const version = pragma(database, "user_version");
  const owner = pragma(database, "application_id");
  const isEmpty = version === 0 && owner === 0 && !hasTables(database);
  if (isEmpty) return 0;
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

/** SQLite may have ended the transaction by itself, as it does when the disk is full. */
export function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is none any more.
  }
}

function pragma(database: Database, name: "user_version" | "application_id"): number {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, number>;
  return row[name] ?? 0;
}

function hasTables(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined;
}
