// What SQLite gives the store: one database for all sessions of a home directory, artifacts beside it.

import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { privateDirectory } from "../artifacts/artifact-sink.ts";
import { createFileBytes } from "../artifacts/session-artifacts.ts";
import { createCommitter } from "./sqlite-committer.ts";
import { createAsk, findSameContent, sessionTables } from "./session-tables.ts";
import { writeBatch } from "../session/write-rows.ts";
import { sql } from "../sql/sql.ts";
import type { StoreParts, StoreSetting } from "../store/create-store.ts";
import { sessionName, storeTables } from "../store/store-tables.ts";
import { openDatabase } from "./open-database.ts";
import { createSqliteRunner } from "./run-steps.ts";
import { createFileHolds, createFindHeld, createSqliteWriter } from "./sqlite-writer.ts";
import { asStoreError } from "./sqlite-error.ts";

export async function openSqliteParts(setting: StoreSetting): Promise<StoreParts> {
  const { directory: home, readOnly, busyTimeoutMs, clock, durability, at } = setting;
  const directory = join(home, "store");
  if (!readOnly) await makeDirectories(home, directory);
  const opened = await openDatabase({ directory, readOnly, busyTimeoutMs, at });
  const runner = createSqliteRunner(opened.database, opened.path);
  const ask = createAsk(opened.database);
  const directoryOf = (session_id: string) => join(home, "artifacts", sessionName(session_id));
  const bytes = createFileBytes({
    directoryOf,
    findSame: (sha256, size) => findSameContent(ask, sha256, size),
    files: opened.files,
  });
  const tables = storeTables(runner, bytes);
  const reading = { database: runner, tables, heldSessions: createFindHeld(runner) };
  if (readOnly) return { ...reading, close: () => runner.close() };

  const write = (batch: Parameters<typeof writeBatch>[0]) => runner.runNow(writeBatch(batch));
  const committer = createCommitter({ ...opened, write, busyTimeoutMs, durability, at });
  const writer = createSqliteWriter({ ...opened, runner, committer, busyTimeoutMs, durability });
  return {
    ...reading,
    writing: {
      writer,
      committer,
      holds: createFileHolds({ ...opened, runner, writer, tables, home, clock, at }),
      files: {
        *removeRows() {},
        removeArtifacts: (session_id) =>
          rm(directoryOf(session_id), { recursive: true, force: true }),
        vacuum: () => sql`PRAGMA incremental_vacuum`,
        forget: (session_id) =>
          rm(join(home, "store", "locks", sessionName(session_id)), { force: true }),
      },
      findTables: ({ session_no }) => sessionTables(ask, session_no),
    },
    close: () => runner.close(),
  };
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
