// Artifacts of the sessions of a store in files: bytes in a directory only the session's holder writes to, records as rows of the
// database. A file without a row is what a crash left, and is swept away when the session opens.

import { closeSync, fsync, openSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ArtifactRecord, ByteRange } from "@soong/core";
import type {
  ArtifactBytes,
  ArtifactRows,
  SessionArtifacts,
  SessionArtifactsOptions,
} from "./artifact-bytes.ts";
import { hashFile, readRange, type ArtifactPlace } from "./artifact-sink.ts";
import { isArtifactId } from "./file-artifacts.ts";
import { createSessionStore } from "./session-store.ts";
import { stageFiles } from "./staged-files.ts";

export interface FileBytesOptions {
  readonly directoryOf: (session_id: string) => string;
  /** A lately kept artifact, of any session, with that content. */
  readonly findSame: (
    sha256: string,
    size: number,
  ) => Pick<ArtifactRecord, "session_id" | "artifact_id"> | undefined;
  /** What belongs to the record from now on, until the function that is returned is called. */
  readonly files: { watch(directory: string): () => void };
}

export function createFileBytes(options: FileBytesOptions): ArtifactBytes {
  const fileOf = ({ session_id }: { session_id: string }, { artifact_id }: ArtifactRecord) =>
    join(options.directoryOf(session_id), artifact_id);
  return {
    read: (owner, record, range = whole(record)) => readRange(fileOf(owner, record), range),
    hash: (owner, record) => hashFile(fileOf(owner, record)),
    async openSession(session) {
      const directory = options.directoryOf(session.session_id);
      await sweepArtifacts(directory, session.rows);
      return sessionArtifacts(directory, options, session);
    },
    stage: (session_id) => stageFiles(options.directoryOf(session_id)),
  };
}

function sessionArtifacts(
  directory: string,
  { directoryOf, findSame, files }: FileBytesOptions,
  { session_id, rows, ids, clock, at }: SessionArtifactsOptions,
): SessionArtifacts {
  let unwatch: (() => void) | undefined;
  const place: ArtifactPlace = {
    directory,
    ids,
    clock,
    at,
    sameContent(sha256, size) {
      const same = findSame(sha256, size);
      return same && join(directoryOf(same.session_id), same.artifact_id);
    },
    async keep(record) {
      // The name on disk before the row that promises it.
      await syncDirectory(directory);
      rows.add(record);
      // From the first one on, the directory is part of the record.
      unwatch ??= files.watch(directory);
    },
  };
  const artifacts = createSessionStore({
    session_id,
    place,
    rows,
    read: (record, range = whole(record)) => readRange(join(directory, record.artifact_id), range),
  });
  return { artifacts, close: () => unwatch?.() };
}

function whole({ size }: ArtifactRecord): ByteRange {
  return { offset: 0, length: size };
}

/** Only for the holder of the session: no one else can be writing there. */
async function sweepArtifacts(directory: string, rows: Pick<ArtifactRows, "find">): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (isArtifactId(name) && rows.find(name) !== undefined) continue;
    await rm(join(directory, name), { force: true, recursive: true });
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such thing.
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    await promisify(fsync)(handle);
  } finally {
    closeSync(handle);
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
