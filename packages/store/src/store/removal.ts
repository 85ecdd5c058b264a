// Removing sessions (ART-4): rows and tombstone change in one transaction, files go afterwards. What a
// crash leaves of the files is written down in the same transaction and goes the next time.

import { omitUndefined } from "@soong/schema";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { Retention, RetentionReport, Tombstone } from "../contract/store.ts";
import type { RunFolders } from "../folder/run-folders.ts";
import { factPlace, PLACES, type SessionRow } from "../session/rows.ts";
import { asColumn } from "../sql/columns.ts";
import {
  raw,
  sql,
  sqlRow,
  type SqlDatabase,
  type SqlPart,
  type SqlWriter,
  type Steps,
} from "../sql/sql.ts";
import { readClock } from "../tasks/task-tables.ts";
import { refuseWorkers } from "./refuse-workers.ts";
import { isStillHeld, type SessionHold } from "../session/open-session.ts";

export interface Removal {
  remove(row: SessionRow, reason?: string): Promise<Tombstone>;
  applyRetention(retention: Retention): Promise<RetentionReport>;
  /** What someone who was killed did not get to. */
  finishOthers(): Promise<void>;
}

type SessionLockHold = Pick<SessionHold, "release" | "isHeld">;

export interface RemovalParts {
  readonly database: SqlDatabase;
  readonly writer: Pick<SqlWriter, "transaction">;
  /** Undefined when someone holds the session. */
  readonly lock: (row: SessionRow) => Promise<SessionLockHold | undefined>;
  readonly files: RemovedFiles;
  readonly folders: RunFolders;
  readonly clock: { now(): number };
  /** Of a database that machines share: how old a session is, no machine's own clock decides. */
  readonly databaseClock?: SqlPart | undefined;
  readonly at?: AtCrashPoint | undefined;
}

/** What a session has besides its rows. */
export interface RemovedFiles {
  /** In the transaction that removes its rows. */
  removeRows(session_no: number): Steps<unknown>;
  /** After it. */
  removeArtifacts(session_id: string): Promise<void>;
  /** Room is given back. */
  readonly vacuum?: () => Steps<unknown>;
  /** Once nothing is left of it. */
  forget(session_id: string): Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Behind every time in letters. */
const LAST_TIME = "~";
const TABLES = [
  "nodes",
  "calls",
  "runs",
  "agents",
  "artifacts",
  "tasks",
  "questions",
  "sessions",
] as const;
const TABLES_OF_TASKS = ["task_steps", "task_step_definitions", "task_dependencies"] as const;

export function createRemoval(parts: RemovalParts): Removal {
  const { database, writer, lock, files, folders, clock, at } = parts;

  return {
    async remove(row, reason) {
      const tombstone = await tryRemove(row, reason);
      if (tombstone !== undefined) return tombstone;
      throw new StoreError(
        "session_in_use",
        `Session ${row.session_id} is in use and cannot be removed. End that first.`,
      );
    },
    async applyRetention({ max_age_days, max_bytes, now: given }) {
      refuseNonsense({ max_age_days, max_bytes });
      const { databaseClock } = parts;
      const now =
        given ?? (databaseClock ? await database.run(readClock(databaseClock)) : clock.now());
      const removed: Tombstone[] = [];
      const heldRows = new Set<string>();
      if (max_age_days !== undefined) {
        // Not before the epoch: so far back a Date cannot go.
        const before = new Date(Math.max(0, now - max_age_days * DAY_MS)).toISOString();
        for (const row of await database.run(oldest(before))) {
          await removeOrNote(row, `older than ${max_age_days} days`);
        }
      }
      let bytes = await database.run(sumOfBytes());
      if (max_bytes !== undefined) {
        for (const row of await database.run(oldest())) {
          if (bytes <= max_bytes) break;
          if (await removeOrNote(row, `more than ${max_bytes} bytes in all`)) bytes -= row.bytes;
        }
      }
      return { removed, bytes, held: [...heldRows] };

      async function removeOrNote(row: SessionRow, reason: string): Promise<boolean> {
        try {
          const tombstone = await tryRemove(row, reason, row.updated_at);
          if (tombstone === undefined) heldRows.add(row.session_id);
          else removed.push(tombstone);
          return tombstone !== undefined;
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          // Someone else was faster.
          if (error.code === "session_removed") return true;
          if (error.code !== "session_in_use") throw error;
          heldRows.add(row.session_id);
          return false;
        }
      }
    },
    async finishOthers() {
      const rows = await database.run(
        sql<{
          session_id: string;
        }>`SELECT DISTINCT session_id FROM leavings`,
      );
      for (const { session_id } of rows) {
        try {
          await removeFiles(session_id);
          await files.forget(session_id);
        } catch {
          // They are in no one's way, and someone may be at it: the next one tries again.
        }
      }
    },
  };

  /** Undefined when someone holds it, or has used it since `lastUse`. */
  async function tryRemove(
    row: SessionRow,
    reason?: string,
    lastUse?: string,
  ): Promise<Tombstone | undefined> {
    const held = await lock(row);
    if (held === undefined) return undefined;
    try {
      const tombstone = await writer.transaction(() =>
        removeRows(held, row.session_no, reason, lastUse),
      );
      if (tombstone === undefined) return undefined;
      at?.("remove.marked");
      await removeFiles(row.session_id);
      return tombstone;
    } finally {
      await held.release();
      if (!(await database.run(isThere(row.session_no)))) await files.forget(row.session_id);
    }
  }

  function* removeRows(
    held: SessionLockHold,
    session_no: number,
    reason: string | undefined,
    lastUse: string | undefined,
  ): Steps<Tombstone | undefined> {
    // Read under the lock of the session: no one adds to it any more.
    const row = yield* sqlRow<SessionRow>`SELECT * FROM sessions WHERE session_no = ${session_no}`;
    if (row === undefined) throw new StoreError("session_removed", "It was removed just now.");
    if (lastUse !== undefined && row.updated_at !== lastUse) return undefined;
    if (!(yield* isStillHeld(held, session_no))) return undefined;
    const { databaseClock } = parts;
    // On one machine, workers are in the process that holds the session.
    if (databaseClock !== undefined) {
      // A claim waits until this has ended.
      yield* sql`SELECT task_no FROM tasks WHERE session_no = ${session_no} FOR UPDATE`;
      yield* refuseWorkers(row, yield* readClock(databaseClock));
    }
    const { session_id, created_at, last_seq, head_hash } = row;
    const removed_at = new Date(clock.now()).toISOString();
    yield* sql`INSERT INTO tombstones (session_id, created_at, removed_at, reason, last_seq, head_hash)
      VALUES (${session_id}, ${created_at}, ${removed_at}, ${asColumn(reason)}, ${last_seq}, ${head_hash})`;
    // The one without a run is for the artifacts and the lock.
    yield* sql`INSERT INTO leavings (session_id, run_id) VALUES (${session_id}, '')`;
    yield* sql`INSERT INTO leavings (session_id, run_id) SELECT CAST(${session_id} AS TEXT), run_id FROM runs
      WHERE session_no = ${session_no} ON CONFLICT DO NOTHING`;
    yield* sql`DELETE FROM facts WHERE place >= ${factPlace(session_no, 0)} AND place < ${factPlace(session_no, PLACES)}`;
    for (const table of TABLES_OF_TASKS) {
      yield* sql`DELETE FROM ${raw(table)} WHERE task_no IN (SELECT task_no FROM tasks
        WHERE session_no = ${session_no})`;
    }
    yield* files.removeRows(session_no);
    for (const table of TABLES)
      yield* sql`DELETE FROM ${raw(table)} WHERE session_no = ${session_no}`;
    return {
      session_id,
      created_at,
      removed_at,
      ...omitUndefined({ reason }),
      last_seq,
      head_hash,
    };
  }

  async function removeFiles(session_id: string): Promise<void> {
    const runs = await database.run(sql<{ run_id: string }>`SELECT run_id FROM leavings
      WHERE session_id = ${session_id} AND run_id <> ''`);
    for (const { run_id } of runs) folders.remove(run_id);
    at?.("remove.files");
    await files.removeArtifacts(session_id);
    await database.run(sql`DELETE FROM leavings WHERE session_id = ${session_id}`);
    if (files.vacuum !== undefined) await database.run(files.vacuum());
    at?.("remove.after");
  }

  function refuseNonsense(bounds: Record<string, number | undefined>): void {
    for (const [name, bound] of Object.entries(bounds)) {
      if (bound === undefined || bound >= 0) continue;
      throw new StoreError(
        "entry_refused",
        `Retention: ${name} is ${bound}; it must not be below 0.`,
      );
    }
  }

  function* isThere(session_no: number): Steps<boolean> {
    return (yield* sqlRow`SELECT 1 FROM sessions WHERE session_no = ${session_no}`) !== undefined;
  }

  function oldest(before = LAST_TIME): Steps<SessionRow[]> {
    return sql`SELECT * FROM sessions WHERE updated_at < ${before} ORDER BY updated_at, session_id`;
  }

  function* sumOfBytes(): Steps<number> {
    const row = yield* sqlRow<{
      bytes: number;
    }>`SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM sessions`;
    return row?.bytes ?? 0;
  }
}
