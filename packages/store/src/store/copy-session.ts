// Copies a session from one store to another, whichever databases they have: facts and nodes byte for byte, so that the chain
// stays as it is, with artifacts, tasks and questions. It is read into a file of this machine first, then added in one
// transaction, which also checks it: a session is there whole, or not at all.

import { refuseChangedBytes, type StagedArtifacts } from "../artifacts/artifact-bytes.ts";
import { isArtifactId } from "../artifacts/file-artifacts.ts";
import { hashLine } from "../chain/chain.ts";
import { openSpool, type Spool } from "../artifacts/spool.ts";
import { StoreError } from "../contract/store-error.ts";
import type { Store } from "../contract/store.ts";
import { factPlace, PLACES, type SessionRow } from "../session/rows.ts";
import { asColumn } from "../sql/columns.ts";
import { listed, sql, sqlRow, type Steps } from "../sql/sql.ts";
import { findCopyPort, type CopyPort } from "./copy-port.ts";
import {
  addFacts,
  addNodes,
  addSession,
  addSmallRows,
  formatFacts,
  formatNodes,
  readRecords,
  readSmallRows,
  type SmallRows,
} from "./copy-rows.ts";
import { finishWalk } from "./verify-session.ts";
import { walkFacts } from "./walk-facts.ts";
import { readClock } from "../tasks/task-tables.ts";
import { refuseWorkers } from "./refuse-workers.ts";

export interface CopyOptions {
  /** Nothing of the session is added after it. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyProgress {
  /** Read so far, and in all. */
  readonly facts: number;
  readonly of_facts: number;
  readonly artifacts: number;
  readonly of_artifacts: number;
}

export interface SessionCopy {
  readonly session_id: string;
  /** `already_there`: with the same facts. `removed_there`: it was there with the same facts, and was removed. */
  readonly state: "copied" | "already_there" | "removed_there";
  readonly facts: number;
  /** How many were read. */
  readonly artifacts: number;
  readonly bytes: number;
  readonly head_hash: string;
}

/** Refused when the session is in use, or is in the other store with another history. */
export async function copySession(
  from: Store,
  to: Store,
  session_id: string,
  options: CopyOptions = {},
): Promise<SessionCopy> {
  const [source, target] = [findCopyPort(from), findCopyPort(to)];
  const first = await source.database.run(source.tables.knownRow(session_id));
  const copied = await target.database.run(target.tables.row(session_id));
  const isOlder =
    copied !== undefined && (await source.database.run(isContinuedFrom(first, copied)));
  const there = await target.database.run(findThere(target, first, isOlder));
  if (there !== undefined) return report(first, there);
  const read = await readSession(source, target, session_id, options);
  try {
    const state = await findWriter(target).transaction(() => addCopy(target, read, options));
    return report(read.rows.session, state, read.rows.tables.artifacts.length);
  } finally {
    await read.staged.discard();
    await read.spool.close();
  }
}

/** What is left of removed sessions, where the other store has neither them nor that. Answers with how many were added. */
export async function copyTombstones(from: Store, to: Store): Promise<number> {
  const { tables } = findCopyPort(to);
  const removed = await from.tombstones();
  return findWriter(findCopyPort(to)).transaction(function* () {
    let added = 0;
    for (const { session_id, created_at, removed_at, reason, last_seq, head_hash } of removed) {
      if ((yield* tables.row(session_id)) !== undefined) continue;
      if ((yield* tables.tombstone(session_id)) !== undefined) continue;
      yield* sql`INSERT INTO tombstones (session_id, created_at, removed_at, reason, last_seq, head_hash)
        VALUES (${session_id}, ${created_at}, ${removed_at}, ${asColumn(reason)}, ${last_seq}, ${head_hash})`;
      added += 1;
    }
    return added;
  });
}

function report(row: SessionRow, state: SessionCopy["state"], artifacts = 0): SessionCopy {
  const { session_id, last_seq: facts, bytes, head_hash } = row;
  return { session_id, state, facts, artifacts, bytes, head_hash };
}

function findWriter({ writing, database }: CopyPort) {
  if (writing !== undefined) return writing.writer;
  const message = `The store ${database.name} was opened for reading only.`;
  throw new StoreError("store_read_only", message);
}

/** Whether the head of the other one is a fact of this session. */
function* isContinuedFrom(
  { session_no }: Pick<SessionRow, "session_no">,
  { last_seq, head_hash }: Pick<SessionRow, "last_seq" | "head_hash">,
): Steps<boolean> {
  const row = yield* sqlRow<{ line: string }>`SELECT line FROM facts
    WHERE place = ${factPlace(session_no, last_seq)}`;
  return row !== undefined && hashLine(row.line) === head_hash;
}

/** Undefined where it is not. Throws where it is there with other facts. `isOlder`: what is there was copied from here earlier. */
function* findThere(
  { tables, database }: CopyPort,
  { session_id, last_seq, head_hash }: SessionRow,
  isOlder = false,
): Steps<"already_there" | "removed_there" | undefined> {
  const row = yield* tables.row(session_id);
  const there = row ?? (yield* tables.tombstone(session_id));
  if (there === undefined) return undefined;
  if (there.last_seq === last_seq && there.head_hash === head_hash) {
    return row === undefined ? "removed_there" : "already_there";
  }
  const isContinued = row !== undefined && (yield* isContinuedFrom(row, { last_seq, head_hash }));
  const counts = `${there.last_seq} facts there, ${last_seq} here`;
  const how =
    row === undefined
      ? `was removed from ${database.name} with another history`
      : isContinued
        ? `was continued in ${database.name} since it was copied: ${counts}`
        : isOlder
          ? `is in ${database.name} as it was when it was copied, and was continued here since: ${counts}`
          : `is in ${database.name} already, with another history: ${counts}`;
  throw new StoreError(
    "session_exists",
    `Session ${session_id} ${how}. Neither was changed; to have both, copy it to another home, database or schema.`,
  );
}

function inUse(session_id: string, holder: string): StoreError {
  return new StoreError(
    "session_in_use",
    `Session ${session_id} is in use by ${holder}. End that, and copy it again.`,
  );
}

/** A session on its way: in memory what is little, else where it is in the file. */
interface ReadSession {
  readonly rows: SmallRows;
  readonly spool: Spool;
  readonly pages: readonly Page[];
  readonly staged: StagedArtifacts;
}

interface Page {
  readonly add: typeof addFacts;
  readonly offset: number;
  readonly length: number;
}

async function readSession(
  source: CopyPort,
  target: CopyPort,
  session_id: string,
  { signal, onProgress }: CopyOptions,
): Promise<ReadSession> {
  const { database, tables } = source;
  const [held] = await source.heldSessions([session_id]);
  if (held !== undefined) throw inUse(session_id, "another process");
  const rows = await database.snapshot(function* () {
    return yield* readSmallRows(yield* tables.knownRow(session_id));
  });
  const row = rows.session;
  // A step that is being worked on would be done in both stores.
  const { databaseClock } = source;
  const now =
    databaseClock === undefined ? Date.now() : await database.run(readClock(databaseClock));
  await database.run(refuseWorkers(row, now));
  const records = readRecords(rows);
  const progress = {
    facts: 0,
    of_facts: row.last_seq,
    artifacts: 0,
    of_artifacts: records.length,
  };
  const spool = await openSpool();
  const staged = await target.tables.placeOf(row).bytes.stage(session_id);
  const pages: Page[] = [];
  try {
    for (;;) {
      const page = await database.run(readFacts(row, progress.facts));
      await keepPage(addFacts, formatFacts(page), page.length);
      const last = page.at(-1);
      if (last === undefined) break;
      progress.facts = last.seq;
      onProgress?.(progress);
    }
    const ids = await database.run(readNodeIds(row));
    for (let at = 0; at < ids.length; at += PAGE) {
      const page = await database.run(readNodes(row, ids.slice(at, at + PAGE)));
      await keepPage(addNodes, formatNodes(page), page.length);
    }
    for (const record of records) {
      if (!isArtifactId(record.artifact_id)) refuseChangedBytes(record);
      await staged.add(record, readBytes(record));
      progress.artifacts += 1;
      onProgress?.(progress);
    }
    // Facts are only ever added, so what was read is all there is as long as the head is the same.
    const now = await database.run(tables.knownRow(session_id));
    if (now.head_hash !== row.head_hash) throw inUse(session_id, "another process");
    return { rows, spool, pages, staged };
  } catch (error) {
    await staged.discard();
    await spool.close();
    throw error;
  }

  async function keepPage(add: Page["add"], text: string, count: number): Promise<void> {
    signal?.throwIfAborted();
    if (count === 0) return;
    const bytes = Buffer.from(text, "utf8");
    pages.push({ add, offset: await spool.append(bytes), length: bytes.length });
  }

  async function* readBytes(record: (typeof records)[number]): AsyncGenerator<Uint8Array> {
    const place = tables.placeOf(row);
    for (let offset = 0; offset < record.size; offset += PART_BYTES) {
      signal?.throwIfAborted();
      const part = await place.bytes.read(place, record, { offset, length: PART_BYTES });
      // It is shorter than its record says.
      if (part.length === 0) return;
      yield part;
    }
  }
}

const PAGE = 200;
const PART_BYTES = 1024 * 1024;

function readFacts({ session_no }: SessionRow, after: number): Steps<{ readonly seq: number }[]> {
  return sql`SELECT place - ${factPlace(session_no, 0)} AS seq, type, run_index, tool_call_id, line FROM facts
    WHERE place > ${factPlace(session_no, after)} AND place < ${factPlace(session_no, PLACES)} ORDER BY place LIMIT ${PAGE}`;
}

/** In the order they came. */
function* readNodeIds({ session_no }: SessionRow): Steps<string[]> {
  const rows = yield* sql<{ node_id: string }>`SELECT node_id FROM nodes
    WHERE session_no = ${session_no} ORDER BY seq, rowid`;
  return rows.map(({ node_id }) => node_id);
}

function* readNodes({ session_no }: SessionRow, ids: readonly string[]): Steps<object[]> {
  const rows = yield* sql<{ node_id: string }>`SELECT node_id, parent_id, seq, text
    FROM ${listed(ids)} JOIN nodes ON session_no = ${session_no} AND node_id = value`;
  const found = new Map(rows.map((row) => [row.node_id, row]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

function* addCopy(
  target: CopyPort,
  read: ReadSession,
  { signal }: CopyOptions,
): Steps<SessionCopy["state"]> {
  const { rows, spool, pages, staged } = read;
  // Another copy may have been faster.
  const there = yield* findThere(target, rows.session);
  if (there !== undefined) return there;
  yield* refuseTaken(rows);
  const row = yield* addSession(rows.session);
  for (const { add, offset, length } of pages) {
    signal?.throwIfAborted();
    yield* add(spool.read(offset, length).toString("utf8"), row.session_no);
  }
  yield* addSmallRows(rows, row.session_no);
  const place = target.tables.placeOf(row);
  const problem = yield* finishWalk(place, row, walkFacts(place));
  if (problem !== undefined) {
    throw new StoreError(
      "store_corrupted",
      `Session ${row.session_id} was not copied, because it is not as it was recorded: ${problem.message}`,
    );
  }
  const rest = staged.commit(row);
  if (rest !== undefined) yield* rest;
  return "copied";
}

/** Runs and tasks have ids that are theirs in the whole store. */
function* refuseTaken({ session, tables, tasks }: SmallRows): Steps<void> {
  const run = yield* sqlRow<{
    id: string;
  }>`SELECT run_id AS id FROM ${listed(tables.runs.map(({ run_id }) => String(run_id)))}
    JOIN runs ON run_id = value`;
  const task = yield* sqlRow<{
    id: string;
  }>`SELECT task_id AS id FROM ${listed(tasks.map((one) => String(one.task["task_id"])))}
    JOIN tasks ON task_id = value`;
  const taken = run ?? task;
  if (taken === undefined) return;
  throw new StoreError(
    "session_exists",
    `Session ${session.session_id} was not copied: ${taken.id} is of another session there.`,
  );
}
