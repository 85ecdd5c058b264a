// One artifact of a session, read in ranges: it may be larger than memory is worth.

import type { ArtifactRecord } from "@soong/core";
import type { SessionReader } from "@soong/store";
import { InspectorError } from "./ports.ts";

export interface ArtifactBytes {
  readonly record: ArtifactRecord;
  /** What there is of the range, which may reach past both ends. */
  read(from: number, to: number): Promise<Buffer>;
}

export async function artifactBytes(
  reader: SessionReader,
  artifact_id: string,
): Promise<ArtifactBytes> {
  const record = (await reader.artifacts()).find((one) => one.artifact_id === artifact_id);
  if (record === undefined) {
    throw new InspectorError("not_found", "This session has no such artifact.");
  }
  return {
    record,
    async read(from, to) {
      const offset = Math.max(0, from);
      const length = Math.min(record.size, to) - offset;
      if (length <= 0) return Buffer.alloc(0);
      const bytes = await reader.readArtifact(artifact_id, { offset, length });
      if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      throw new InspectorError("not_found", "The bytes of this artifact are no longer there.");
    },
  };
}
