// A session held for writing: recovered, then journal, artifacts and tree behind the kernel's interfaces.

import type { Clock, Fact, IdSource, Journal, JournalEntry } from "@soong/core";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { OpenSession } from "../contract/store.ts";
import type { FolderQueue, RunFolders } from "../folder/run-folders.ts";
import type { CommittedFact, ReadFacts } from "../folder/line-file.ts";
import { asColumn } from "../sql/columns.ts";
import { raw, sql, type SqlPart, type SqlWriter, type Steps } from "../sql/sql.ts";
import type { Committer } from "./committer.ts";
import { findLost } from "./recover.ts";
import { factPlace, PLACES, type RunRow, type SessionRow } from "./rows.ts";
import { asCount, parseFact, sessionReader, type SessionPlace } from "./session-reader.ts";
import { createSessionWriter } from "./session-writer.ts";
import type { SessionTables } from "./session-tables.ts";

export interface HeldSessionParts {
  readonly committer: Committer;
  readonly writer: SqlWriter;
  readonly findTables: (row: SessionRow) => SessionTables | Promise<SessionTables>;
  readonly folders: RunFolders;
  readonly folderQueue: FolderQueue;
  readonly ids: IdSource;
  readonly clock: Pick<Clock, "now">;
  readonly at?: AtCrashPoint | undefined;
}

/** This process is the one that writes to the session. */
export interface SessionHold {
  /** Aborts as soon as that is no longer certain. Absent where it stays certain. */
  readonly lost?: AbortSignal;
  /** In a statement on its row: that is still so. Absent where it stays so. */
  readonly isHeld?: SqlPart;
  /** Lets it go, for the next one. */
  release(): void | Promise<void>;
  /** Lets it go in order: nothing is left to look at. */
  end(): Steps<unknown>;
}

export interface HeldSession {
  readonly row: SessionRow;
  readonly place: SessionPlace;
  readonly hold: SessionHold;
  /** The last seq when it was opened before, if that holder never let go. */
  readonly abandonedAt: number | undefined;
  readonly onClose: () => void;
}

export interface SessionInHand {
  readonly session: OpenSession;
  /** Lets it go as it is in the tables, because nothing more can be committed. */
  abandon(): Promise<void>;
}

/** In the transaction that relies on it: until its end no one else takes the session. */
export function* isStillHeld(
  { isHeld }: Pick<SessionHold, "isHeld">,
  session_no: number,
): Steps<boolean> {
  if (isHeld === undefined) return true;
  const rows = yield* sql`SELECT 1 FROM sessions
    WHERE session_no = ${session_no} AND ${isHeld} FOR UPDATE`;
  return rows.length > 0;
}

export async function holdSession(
  parts: HeldSessionParts,
  { row, place, hold, abandonedAt, onClose }: HeldSession,
): Promise<SessionInHand> {
  const { committer, folders, folderQueue, at } = parts;
  const { database } = place;
  const isNew = row.last_seq === 0;
  const { session_no } = row;
  const tables = await parts.findTables(row);
  const writer = createSessionWriter({
    row,
    tables,
    committer,
    at,
    onCommitted: (facts) => folderQueue.append(facts),
  });
  // So that nothing of it goes with a later opening of the session in this process.
  hold.lost?.addEventListener("abort", () => writer.abandon(), { once: true });
  const reader = sessionReader(place);
  const time = new Date(parts.clock.now()).toISOString();
  const { recovered, entry } = await database.run(findLost(place, row, time));
  if (abandonedAt !== undefined) {
    for (const run_id of await database.run(runsSince(abandonedAt))) await catchUp(run_id);
  }
  if (entry !== undefined) await recover(entry);
  let isOpen = true;
  const kept = await place.bytes.openSession({
    session_id: row.session_id,
    session_no: row.session_no,
    rows: {
      add(record) {
        refuseClosed();
        writer.addArtifact(record);
      },
      find: (artifact_id) => writer.findArtifact(artifact_id),
      findContent: (content) => writer.findContent(content),
    },
    ids: parts.ids,
    clock: parts.clock,
    at,
  });

  const journal: Journal = {
    append(given) {
      refuseClosed();
      writer.append(given);
    },
    async flush() {
      refuseClosed();
      await writer.flush();
      refuseRefused();
    },
    read: async (after, limit) => database.run(read(asCount(after), asCount(limit))),
    committed: writer.committed,
    ...(hold.lost && { lost: hold.lost }),
  };

  const session: OpenSession = {
    session_id: row.session_id,
    journal,
    ...(isNew ? {} : { lastSeq: row.last_seq }),
    artifacts: kept.artifacts,
    reader,
    recovered,
    lost: hold.lost ?? new AbortController().signal,
    async rewind(recorder, node_id) {
      refuseClosed();
      await writer.flush();
      const node = await reader.node(node_id);
      if (node === undefined) {
        throw new StoreError(
          "node_unknown",
          `Session ${row.session_id} has no node ${node_id} to continue from.`,
        );
      }
      recorder.recordClean("context.rewound", { agent_id: node.agent_id, node_id });
    },
    async describe({ title, project }) {
      refuseClosed();
      if (title !== undefined) row.title = asColumn(title);
      if (project !== undefined) row.project = asColumn(project);
      await parts.writer.transaction(
        () => sql`UPDATE sessions SET title = ${row.title}, project = ${row.project}
          WHERE session_no = ${row.session_no} AND ${hold.isHeld ?? ALWAYS}`,
      );
    },
    close,
  };

  return { session, abandon };

  async function abandon(): Promise<void> {
    writer.abandon();
    await letGo();
  }

  async function recover(lost: JournalEntry): Promise<void> {
    at?.("recovery.before");
    try {
      const ids = lost.nodes?.map(({ node_id }) => node_id) ?? [];
      if (tables.loadBelow !== undefined) await database.run(tables.loadBelow(ids));
      writer.recover(lost);
      await committer.commit();
      refuseRefused();
      folderQueue.write();
    } catch (error) {
      writer.abandon();
      throw error;
    }
    at?.("recovery.after");
  }

  /** One that cannot commit stays open, for a second attempt: nothing of it is given up. */
  async function close(): Promise<void> {
    if (!isOpen) return;
    if (isLost()) return abandon();
    await committer.commit();
    committer.check();
    folderQueue.write();
    try {
      await parts.writer.transaction(() => hold.end(), "unsynced");
    } catch (error) {
      if (!isLost()) throw error;
    }
    await letGo();
  }

  async function letGo(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    kept.close();
    await hold.release();
    onClose();
  }

  function isLost(): boolean {
    return hold.lost?.aborted === true;
  }

  function refuseClosed(): void {
    hold.lost?.throwIfAborted();
    if (isOpen) return;
    throw new StoreError("session_closed", `Session ${row.session_id} is closed; open it again.`);
  }

  function refuseRefused(): void {
    if (writer.refusal !== undefined) throw writer.refusal;
  }

  function* read(after: number, limit: number): Steps<Fact[]> {
    const { firstHeld } = writer;
    const facts: Fact[] = [];
    if (after + 1 < firstHeld) {
      const rows = yield* sql<{
        seq: number;
        line: string;
      }>`SELECT place - ${factPlace(session_no, 0)} AS seq, line
        FROM facts WHERE place > ${factPlace(session_no, after)} AND place < ${factPlace(session_no, firstHeld)}
         ORDER BY place LIMIT ${limit}`;
      for (const one of rows) facts.push(parseFact(one, place));
    }
    const seen = Math.max(after, firstHeld - 1, facts.at(-1)?.seq ?? 0);
    for (const fact of writer.heldFacts(seen, limit - facts.length)) facts.push(fact);
    return facts;
  }

  function* runsSince(seq: number): Steps<string[]> {
    const rows = yield* sql<Pick<RunRow, "run_id">>`SELECT run_id FROM runs
      WHERE session_no = ${row.session_no} AND (last_seq > ${seq} OR ended_at IS NULL)
       ORDER BY run_index`;
    return rows.map(({ run_id }) => run_id);
  }

  async function catchUp(run_id: string): Promise<void> {
    folders.catchUp(run_id, await readRun(place, run_id));
  }
}

const PAGE = 500;
const ALWAYS = raw("TRUE");

/** Facts of a run with the journal's own text, page by page. Folders are written at once, so what has to be waited for is read before. */
export async function readRun(place: SessionPlace, run_id: string): Promise<ReadFacts> {
  const { runNow } = place.database;
  const readPage = (after: number): Steps<CommittedFact[]> => committedFacts(place, run_id, after);
  if (runNow !== undefined) return (after) => runNow(readPage(after));
  const facts: CommittedFact[] = [];
  for (;;) {
    const page = await place.database.run(readPage(facts.at(-1)?.fact.seq ?? 0));
    if (page.length === 0) break;
    facts.push(...page);
  }
  return (after) => facts.filter(({ fact }) => fact.seq > after);
}

function* committedFacts(
  place: SessionPlace,
  run_id: string,
  after: number,
): Steps<CommittedFact[]> {
  const { session_no } = place;
  const rows = yield* sql<{
    seq: number;
    line: string;
  }>`SELECT facts.place - ${factPlace(session_no, 0)} AS seq, facts.line FROM runs JOIN facts
       ON facts.run_index = runs.run_index AND facts.place > ${factPlace(session_no, after)} AND facts.place < ${factPlace(session_no, PLACES)}
     WHERE runs.session_no = ${session_no} AND runs.run_id = ${run_id} ORDER BY facts.place LIMIT ${PAGE}`;
  return rows.map((row) => ({ fact: parseFact(row, place), line: row.line }));
}
