// Brings the tables to the version this program knows (STORE-4). Processes that start at the same time wait for each other.

import { StoreError } from "../contract/store-error.ts";
import type { Migration } from "../sqlite/migrations.ts";
import type { Connections } from "./connection.ts";
import { POSTGRES_MIGRATIONS } from "./migrations.ts";

export async function migratePostgres(
  connections: Connections,
  schema: string,
  migrations: readonly Migration[] = POSTGRES_MIGRATIONS,
): Promise<void> {
  const latest = latestOf(migrations);
  if ((await readVersion(connections, schema, latest)) === latest) return;
  await connections.with(async (client) => {
    await client.query("BEGIN");
    // The lock ends with this transaction, so that a process that is cut off frees it with its connection.
    await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [
      `soong migrations ${schema}`,
    ]);
    // Not `CREATE SCHEMA IF NOT EXISTS`: it needs a right on the database even if an administrator has created the schema.
    const { rowCount } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [
      schema,
    ]);
    if (rowCount === 0) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(
      "CREATE TABLE IF NOT EXISTS soong_store (version INTEGER NOT NULL, made_at TIMESTAMPTZ NOT NULL DEFAULT now())",
    );
    // Another process may have migrated before we got the lock.
    const { rows } = await client.query<{ version: number | null }>(
      "SELECT max(version) AS version FROM soong_store",
    );
    const version = rows[0]?.version ?? 0;
    refuseNewer(connections, version, latest);
    for (const migration of migrations.filter((one) => one.version > version)) {
      await client.query(migration.sql);
      await client.query("INSERT INTO soong_store (version) VALUES ($1)", [migration.version]);
    }
    await client.query("COMMIT");
  });
}

export const LATEST_VERSION = latestOf(POSTGRES_MIGRATIONS);

/** For readers, which do not migrate. Later versions have only added tables for processes that write, so all can be read. */
export async function refuseUnreadable(connections: Connections, schema: string): Promise<void> {
  if ((await readVersion(connections, schema, LATEST_VERSION)) > 0) return;
  throw new StoreError(
    "store_absent",
    `There is no store at ${connections.name}. Open it for writing, which makes one.`,
  );
}

/** 0 if there is no store. Throws if it is newer than `latest`. */
export async function readVersion(
  connections: Connections,
  schema: string,
  latest: number,
): Promise<number> {
  const { rows } = await connections.query({
    text: "SELECT to_regclass($1) IS NOT NULL AS is_there",
    values: [`${schema}.soong_store`],
  });
  if (!(rows[0] as { is_there: boolean }).is_there) return 0;
  const found = await connections.query({
    text: "SELECT max(version) AS version FROM soong_store",
  });
  const version = (found.rows[0] as { version: number | null }).version ?? 0;
  refuseNewer(connections, version, latest);
  return version;
}

function refuseNewer({ name }: Connections, version: number, latest: number): void {
  if (version <= latest) return;
  throw new StoreError(
    "store_too_new",
    `The store ${name} has version ${version}; this Soong knows up to ${latest}. Nothing was changed; use a newer Soong.`,
  );
}

function latestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
