// The SQLite inside Node from 24 on, and a package with the same interface before that. Loaded on use: a
// program that only keeps artifacts pays for neither.

// A build from source has to find them, too.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./node-sqlite.d.ts" />

import { StoreError } from "../contract/store-error.ts";
import type { SqlValue } from "../sql/sql.ts";

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

export interface DatabaseOptions {
  readonly readOnly?: boolean;
  /** How long to wait for another process, in milliseconds. */
  readonly timeout?: number;
}

export type OpenDatabase = (path: string, options?: DatabaseOptions) => Database;

interface SqliteModule {
  DatabaseSync: new (path: string, options?: DatabaseOptions) => Database;
}

const FIRST_NODE_WITH_SQLITE = 24;

let loading: Promise<OpenDatabase> | undefined;

export function loadSqlite(): Promise<OpenDatabase> {
  loading ??= load();
  return loading;
}

async function load(): Promise<OpenDatabase> {
  const isBuiltIn = Number.parseInt(process.versions.node, 10) >= FIRST_NODE_WITH_SQLITE;
  try {
    const { DatabaseSync }: SqliteModule = isBuiltIn
      ? await import("node:sqlite")
      : await import("@photostructure/sqlite");
    return (path, options = {}) => new DatabaseSync(path, options);
  } catch (error) {
    loading = undefined;
    // Below the first line there may be a stack of our own files.
    const [why] = (error as Error).message.split("\n");
    throw new StoreError(
      "store_unavailable",
      `SQLite could not be loaded (${why}). ` +
        "Install the package @photostructure/sqlite, or use Node 24 or newer, which has its own.",
      { cause: error },
    );
  }
}
