// Where the bytes of artifacts are: in files, or in the database.

import type { ArtifactRecord, ArtifactStore, ByteRange, TextMeasures } from "@soong/core";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";
import type { Steps } from "../sql/sql.ts";

export interface ArtifactOwner {
  readonly session_id: string;
  readonly session_no: number;
}

export interface ArtifactBytes {
  /** All of it, or what there is of a range. */
  read(owner: ArtifactOwner, record: ArtifactRecord, range?: ByteRange): Promise<Uint8Array>;
  /** The sha256 of what is kept; undefined when it cannot be read. */
  hash(owner: ArtifactOwner, record: ArtifactRecord): Promise<string | undefined>;
  /** For the holder of a session. */
  openSession(options: SessionArtifactsOptions): Promise<SessionArtifacts>;
  /** For a session that is copied here. */
  stage(session_id: string): Promise<StagedArtifacts>;
}

/** Bytes of a session that has no rows here yet. */
export interface StagedArtifacts {
  /** Refused where the bytes are not what the record says. */
  add(record: ArtifactRecord, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** In the transaction that adds the rows, at its end. Answers with what is left to do there. */
  commit(owner: ArtifactOwner): Steps<void> | undefined;
  /** What is left of it goes, also after `commit`. */
  discard(): Promise<void>;
}

export interface SessionArtifacts {
  readonly artifacts: ArtifactStore;
  /** The session is let go. */
  close(): void;
}

export interface SessionArtifactsOptions extends ArtifactOwner {
  readonly rows: ArtifactRows;
  readonly ids: { next(prefix: string): string };
  readonly clock: { now(): number };
  readonly at?: AtCrashPoint | undefined;
}

/** Where the records are. */
export interface ArtifactRows {
  add(record: ArtifactRecord): void;
  find(artifact_id: string): ArtifactRecord | undefined;
  findContent(content: TextMeasures): ArtifactRecord | undefined;
}

export function refuseChangedBytes({ artifact_id, session_id }: ArtifactRecord): never {
  throw new StoreError(
    "store_corrupted",
    `Artifact ${artifact_id} of session ${session_id} is not what was recorded.`,
  );
}
