// The artifacts of one session of a store: bytes in a directory only its holder writes to, records as rows
// of the database. A file without a row is what a crash left, and is swept away when the session opens.

import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  ToolFailure,
  type ArtifactInput,
  type ArtifactRecord,
  type ArtifactStore,
  type ByteRange,
} from "@soong/core";
import type { AtCrashPoint } from "../contract/store-error.ts";
import {
  openArtifactSink,
  writeArtifact,
  type ArtifactPlace,
  privateDirectory,
  readRange,
} from "./artifact-sink.ts";
import { isArtifactId } from "./file-artifacts.ts";

/** Where the records are. */
export interface ArtifactRows {
  add(record: ArtifactRecord): void;
  find(artifact_id: string): ArtifactRecord | undefined;
  /** The file of a lately kept artifact, of any session, with that content. */
  sameContent(sha256: string, size: number): string | undefined;
}

export interface SessionArtifactsOptions {
  readonly directory: string;
  readonly session_id: string;
  readonly rows: ArtifactRows;
  readonly ids: { next(prefix: string): string };
  readonly clock: { now(): number };
  readonly at?: AtCrashPoint | undefined;
}

export function sessionArtifacts(options: SessionArtifactsOptions): ArtifactStore {
  const { directory, session_id, rows, ids, clock, at } = options;
  const place: ArtifactPlace = {
    directory,
    ids,
    clock,
    at,
    sameContent: (sha256, size) => rows.sameContent(sha256, size),
    async keep(record) {
      // The name on disk before the row that promises it.
      await syncDirectory(directory);
      rows.add(record);
    },
  };
  /** Most sessions keep nothing: the directory is made for the first who does. */
  let made: Promise<string> | undefined;

  return {
    open(about) {
      refuseForeign(about);
      return openArtifactSink({ ...place, ready: ready() }, about);
    },
    async write(bytes, about) {
      refuseForeign(about);
      return writeArtifact({ ...place, ready: ready() }, bytes, about);
    },
    read: (artifact_id, range) => readSessionArtifact(directory, rows, artifact_id, range),
    stat: async (artifact_id) => rows.find(artifact_id),
  };

  function ready(): Promise<string> {
    made ??= privateDirectory(directory);
    // A caller that waits for it gets the failure; without one it is no failure yet.
    made.catch(() => {});
    return made;
  }

  function refuseForeign(about: ArtifactInput): void {
    if (about.session_id === session_id) return;
    throw new ToolFailure({
      code: "artifact_of_another_session",
      message: `An artifact of session ${about.session_id} cannot be kept with session ${session_id}.`,
    });
  }
}

export async function readSessionArtifact(
  directory: string,
  rows: Pick<ArtifactRows, "find">,
  artifact_id: string,
  range?: ByteRange,
): Promise<Uint8Array | undefined> {
  if (!isArtifactId(artifact_id)) return undefined;
  const record = rows.find(artifact_id);
  if (record === undefined) return undefined;
  return readRange(join(directory, artifact_id), range ?? { offset: 0, length: record.size });
}

/** Only for the holder of the session: no one else can be writing there. */
export async function sweepArtifacts(
  directory: string,
  rows: Pick<ArtifactRows, "find">,
): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (isArtifactId(name) && rows.find(name) !== undefined) continue;
    await rm(join(directory, name), { force: true, recursive: true });
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such thing.
  if (process.platform === "win32") return;
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
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
