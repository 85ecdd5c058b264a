// The store on SQLite: one database for all sessions of a home directory, artifacts and run folders beside
// it. Several processes may have it open at once.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { randomIds, systemClock, type Clock, type IdSource } from "@soong/core";

import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { Store, Durability } from "../contract/store.ts";
import { createQuery } from "../sqlite/query.ts";
import { asStoreError } from "../sqlite/sqlite-error.ts";
import { openDatabase } from "../sqlite/open-database.ts";

import { createQuestionTable } from "./question-table.ts";
import { createTaskTables } from "../tasks/task-tables.ts";
import { storeTables } from "./store-tables.ts";
import { createStoreWriter, type StoreWriter } from "./store-writer.ts";
import { privateDirectory } from "../artifacts/artifact-sink.ts";

export interface StoreOptions {
  /** The home directory: the database goes to `store/`, artifacts to `artifacts/`, runs to `runs/`. */
  readonly directory: string;
  /** Nothing is written, not even a newer version of the tables. */
  readonly readOnly?: boolean;
  readonly clock?: Pick<Clock, "now">;
  readonly ids?: IdSource;
  /** How long to wait for other processes that are writing. Default: 2 minutes. */
  readonly busyTimeoutMs?: number;
  /** Default: `standard`. */
  readonly durability?: Durability;
  /** For tests that kill the process at the worst moment. */
  readonly at?: AtCrashPoint;
}

/** Among a hundred processes that start at once the last one waits its turn for many seconds. */
const DEFAULT_BUSY_TIMEOUT_MS = 120_000;

export async function openStore(options: StoreOptions): Promise<Store> {
  const { readOnly = false, at, ids = randomIds(), clock = systemClock() } = options;
  const home = options.directory;
  const directory = join(home, "store");
  if (!readOnly) await makeDirectories(home, directory);
  const busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
  const opened = await openDatabase({ directory, readOnly, busyTimeoutMs, at });
  const { database, path } = opened;
  const runner = createQuery(database, path);
  const { query } = runner;
  let closing: Promise<void> | undefined;
  const tables = storeTables(query, home, path);
  const tasks = createTaskTables({
    query,
    tryTransaction: (work) => writing().tryTransaction(work),
    sessionNumber: (session_id) => tables.knownRow(session_id).session_no,
    busyTimeoutMs,
  });
  const questions = createQuestionTable({
    query,
    transaction: (work) => writing().transaction(work),
    sessionNumber: (session_id) => tables.knownRow(session_id).session_no,
  });
  let writer: StoreWriter | undefined;
  try {
    if (!readOnly) {
      const { durability } = options;
      const parts = { ...opened, query, tables, home, ids, clock, busyTimeoutMs, durability, at };
      writer = await createStoreWriter(parts);
    }
  } catch (error) {
    database.close();
    throw asStoreError(error, path);
  }

  return {
    ...tables,
    tasks: () => tasks,
    questions: () => questions,
    createSession: async (session) => writing().createSession(session),
    openSession: async (session_id) => writing().openSession(session_id),
    removeSession: async (session_id, reason) => writing().removeSession(session_id, reason),
    applyRetention: async (retention) => writing().applyRetention(retention),
    rebuildSession: async (session_id) => writing().rebuildSession(session_id),
    rebuildRunFolder: async (run_id) => writing().rebuildRunFolder(run_id),
    runFolderProblems: () => writer?.runFolderProblems() ?? [],
    close() {
      closing ??= close();
      return closing;
    },
  };

  function writing(): StoreWriter {
    runner.refuseClosed();
    if (writer !== undefined) return writer;
    throw new StoreError("store_read_only", `The store ${path} was opened for reading only.`);
  }

  async function close(): Promise<void> {
    try {
      await writer?.close();
    } finally {
      runner.close();
    }
  }
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
