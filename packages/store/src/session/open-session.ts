// A session held for writing: recovered, then journal, artifacts and tree behind the kernel's interfaces.

import { join } from "node:path";
import type { Clock, Fact, IdSource, Journal, JournalEntry } from "@soong/core";
import { sessionArtifacts, sweepArtifacts } from "../artifacts/session-artifacts.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { OpenSession } from "../contract/store.ts";
import type { FolderQueue, RunFolders } from "../folder/run-folders.ts";
import { asColumn } from "../sqlite/sqlite-error.ts";
import type { OpenedFiles, SessionLock } from "../sqlite/open-database.ts";
import type { Committer } from "./committer.ts";
import { findLost } from "./recover.ts";
import { placeOfSession, type RunRow, type SessionRow, type WriteStatements } from "./rows.ts";
import { asCount, parseFact, sessionReader, type SessionPlace } from "./session-reader.ts";
import { createSessionWriter } from "./session-writer.ts";
import { sessionTables, type Ask } from "./statements.ts";
import type { CommittedFact } from "../folder/line-file.ts";

export interface HeldSessionParts {
  readonly ask: Ask;
  readonly committer: Committer;
  readonly transaction: <T>(work: () => T, sync?: "synced" | "unsynced") => T;
  readonly files: Pick<OpenedFiles, "watch">;
  readonly statements: WriteStatements;
  readonly folders: RunFolders;
  readonly folderQueue: FolderQueue;
  readonly ids: IdSource;
  readonly clock: Pick<Clock, "now">;
  readonly at?: AtCrashPoint | undefined;
}

export interface HeldSession {
  readonly row: SessionRow;
  readonly place: SessionPlace;
  readonly lock: SessionLock;
  /** The last seq when it was opened before, if that holder never let go. */
  readonly abandonedAt: number | undefined;
  readonly onClose: () => void;
}

export interface SessionInHand {
  readonly session: OpenSession;
  /** Lets it go as it is on disk, because nothing more can be committed. */
  abandon(): void;
}

export async function holdSession(
  parts: HeldSessionParts,
  { row, place, lock, abandonedAt, onClose }: HeldSession,
): Promise<SessionInHand> {
  const { committer, folders, folderQueue, at } = parts;
  const isNew = row.last_seq === 0;
  const base = placeOfSession(row.session_no);
  const tables = sessionTables(parts.ask, row.session_no);
  const writer = createSessionWriter({
    row,
    tables,
    statements: parts.statements,
    committer,
    at,
    onCommitted: (facts) => folderQueue.append(facts),
  });
  const reader = sessionReader(place);
  const time = new Date(parts.clock.now()).toISOString();
  const { recovered, entry } = findLost(place, row, time);
  if (abandonedAt !== undefined) for (const run_id of runsSince(abandonedAt)) catchUp(run_id);
  if (entry !== undefined) recover(entry);
  await sweepArtifacts(place.artifactDirectory, {
    find: (artifact_id) => tables.artifact(artifact_id),
  });
  let isOpen = true;
  /** From the first artifact on its directory is part of the record. */
  let unwatch: (() => void) | undefined;

  const journal: Journal = {
    append(given) {
      refuseClosed();
      writer.append(given);
    },
    async flush() {
      refuseClosed();
      await committer.flush();
      refuseRefused();
    },
    read: async (after, limit) => read(asCount(after), asCount(limit)),
    committed: writer.committed,
  };

  const session: OpenSession = {
    session_id: row.session_id,
    journal,
    ...(isNew ? {} : { lastSeq: row.last_seq }),
    artifacts: sessionArtifacts({
      directory: place.artifactDirectory,
      session_id: row.session_id,
      rows: {
        add(record) {
          refuseClosed();
          unwatch ??= parts.files.watch(place.artifactDirectory);
          writer.addArtifact(record);
        },
        find: (artifact_id) => writer.findArtifact(artifact_id),
        sameContent(sha256, size) {
          const same = tables.sameContent(sha256, size);
          return same && join(place.artifactDirectoryOf(same.session_id), same.artifact_id);
        },
      },
      ids: parts.ids,
      clock: parts.clock,
      at,
    }),
    reader,
    recovered,
    async rewind(recorder, node_id) {
      refuseClosed();
      const flushed = committer.flush();
      if (flushed !== undefined) await flushed;
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
      parts.transaction(
        () =>
          place.query`UPDATE sessions SET title = ${row.title}, project = ${row.project}
          WHERE session_no = ${row.session_no}`,
      );
    },
    close,
  };

  return {
    session,
    abandon() {
      writer.abandon();
      letGo();
    },
  };

  function recover(lost: JournalEntry): void {
    at?.("recovery.before");
    try {
      writer.recover(lost);
      committer.commit();
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
    committer.commit();
    committer.check();
    folderQueue.write();
    parts.transaction(
      () => place.query`UPDATE sessions SET holder = NULL WHERE session_no = ${row.session_no}`,
      "unsynced",
    );
    letGo();
  }

  function letGo(): void {
    if (!isOpen) return;
    isOpen = false;
    unwatch?.();
    lock.release();
    onClose();
  }

  function refuseClosed(): void {
    if (isOpen) return;
    throw new StoreError("session_closed", `Session ${row.session_id} is closed; open it again.`);
  }

  function refuseRefused(): void {
    if (writer.refusal !== undefined) throw writer.refusal;
  }

  function read(after: number, limit: number): Fact[] {
    const { firstHeld } = writer;
    const facts: Fact[] = [];
    if (after + 1 < firstHeld) {
      const rows = place.query<{ seq: number; line: string }>`SELECT place - ${base} AS seq, line
        FROM facts WHERE place > ${base + after} AND place < ${base + firstHeld}
         ORDER BY place LIMIT ${limit}`;
      for (const one of rows) facts.push(parseFact(one, place));
    }
    const seen = Math.max(after, firstHeld - 1);
    for (const fact of writer.heldFacts(seen, limit - facts.length)) facts.push(fact);
    return facts;
  }

  function runsSince(seq: number): string[] {
    const rows = place.query<Pick<RunRow, "run_id">>`SELECT run_id FROM runs
      WHERE session_no = ${row.session_no} AND (last_seq > ${seq} OR ended_at IS NULL)
       ORDER BY run_index`;
    return rows.map(({ run_id }) => run_id);
  }

  function catchUp(run_id: string): void {
    folders.catchUp(run_id, (after) => committedFacts(place, run_id, after));
  }
}

const PAGE = 500;

/** Facts of a run with the journal's own text, page by page. */
export function committedFacts(
  place: SessionPlace,
  run_id: string,
  after: number,
): readonly CommittedFact[] {
  const base = placeOfSession(place.session_no);
  const rows = place.query<{
    seq: number;
    line: string;
  }>`SELECT facts.place - ${base} AS seq, facts.line FROM runs JOIN facts
       ON facts.run_index = runs.run_index AND facts.place > ${base + after} AND facts.place < ${base + 2 ** 32}
     WHERE runs.session_no = ${place.session_no} AND runs.run_id = ${run_id} ORDER BY facts.place LIMIT ${PAGE}`;
  return rows.map((row) => ({ fact: parseFact(row, place), line: row.line }));
}
