// Keeps the bytes of artifacts in the database, in parts, each content once for a session. Before the upload they are in a file on
// this machine, so that none is held in memory.

import { createHash } from "node:crypto";
import { open, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactRecord, ByteRange } from "@soong/core";
import type {
  ArtifactBytes,
  ArtifactOwner,
  SessionArtifactsOptions,
} from "../artifacts/artifact-bytes.ts";
import type { ArtifactPlace } from "../artifacts/artifact-sink.ts";
import { createSessionStore } from "../artifacts/session-store.ts";
import { sql, sqlRow, type Steps } from "../sql/sql.ts";
import { sessionName } from "../store/store-tables.ts";
import type { PostgresRunner } from "./run-steps.ts";
import { stageParts } from "./staged-parts.ts";

const PART_BYTES = 256 * 1024;

/** Not the folder of a SQLite store's artifacts: the home may have such a store too, with a session of the same id. */
export function uploadFolder(home: string, session_id: string): string {
  return join(home, "uploads", sessionName(session_id));
}

export function createDatabaseBytes(runner: PostgresRunner, home: string): ArtifactBytes {
  return { read, hash, openSession, stage: () => stageParts(PART_BYTES) };

  async function read(
    owner: ArtifactOwner,
    record: ArtifactRecord,
    range: ByteRange = { offset: 0, length: record.size },
  ): Promise<Uint8Array> {
    const from = within(range.offset, record.size);
    const to = from + within(range.length, record.size - from);
    if (from === to) return new Uint8Array();
    const first = Math.floor(from / PART_BYTES);
    const rows = await runner.run(sql<{ bytes: Buffer }>`SELECT bytes FROM artifact_parts
      WHERE session_no = ${owner.session_no} AND sha256 = ${record.sha256}
        AND part BETWEEN ${first} AND ${Math.floor((to - 1) / PART_BYTES)} ORDER BY part`);
    const start = first * PART_BYTES;
    const all = Buffer.concat(rows.map(({ bytes }) => bytes));
    return new Uint8Array(all.subarray(from - start, to - start));
  }

  async function hash(owner: ArtifactOwner, record: ArtifactRecord): Promise<string | undefined> {
    const digest = createHash("sha256");
    for (let offset = 0; offset < record.size; offset += PART_BYTES) {
      const bytes = await read(owner, record, { offset, length: PART_BYTES });
      if (bytes.length === 0) return undefined;
      digest.update(bytes);
    }
    return digest.digest("hex");
  }

  async function openSession({
    session_id,
    session_no,
    rows,
    ids,
    clock,
    at,
  }: SessionArtifactsOptions) {
    const directory = uploadFolder(home, session_id);
    // Files that a crash left.
    await rm(directory, { recursive: true, force: true });
    await runner.run(sweep(session_no));
    const place: ArtifactPlace = {
      directory,
      ids,
      clock,
      at,
      async keep(record) {
        const path = join(directory, record.artifact_id);
        await upload(session_no, record, path);
        await rm(path, { force: true });
        rows.add(record);
      },
    };
    const artifacts = createSessionStore({
      session_id,
      place,
      rows,
      read: (record, range) => read({ session_id, session_no }, record, range),
    });
    return { artifacts, close: () => void rmdir(directory).catch(() => {}) };
  }

  async function upload(session_no: number, record: ArtifactRecord, path: string): Promise<void> {
    const { sha256, size } = record;
    if (size === 0) return;
    const last = Math.floor((size - 1) / PART_BYTES);
    const there = await runner.run(sqlRow<{ parts: number }>`SELECT count(*) AS parts
      FROM artifact_parts WHERE session_no = ${session_no} AND sha256 = ${sha256}`);
    // All parts must be there: a process that has lost the session may have left some of them.
    if (there?.parts === last + 1) return;
    const file = await open(path, "r");
    try {
      for (let part = 0; part <= last; part += 1) {
        const bytes = Buffer.alloc(Math.min(PART_BYTES, size - part * PART_BYTES));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, part * PART_BYTES);
        if (bytesRead !== bytes.length) throw new Error(`${path} has become shorter`);
        await runner.run(sql`INSERT INTO artifact_parts (session_no, sha256, part, bytes)
          VALUES (${session_no}, ${sha256}, ${part}, ${bytes}) ON CONFLICT DO NOTHING`);
      }
    } finally {
      await file.close();
    }
  }

  /**
   * Removes parts that no record names. Only the holder of the session calls it, so no one else writes there. The records are not
   * parsed as JSON, because PostgreSQL refuses JSON with a NUL in a name. The pattern cannot match within a text of a record, where
   * quotation marks are escaped.
   */
  function sweep(session_no: number): Steps<object[]> {
    return sql`DELETE FROM artifact_parts WHERE session_no = ${session_no} AND sha256 NOT IN
      (SELECT coalesce(substring(record FROM '"sha256":"([0-9a-f]+)"'), '') FROM artifacts
        WHERE session_no = ${session_no})`;
  }
}

function within(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(0, Math.floor(value)), most);
}
