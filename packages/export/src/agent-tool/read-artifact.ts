// A reference to bytes that are kept outside of the records.

import { readCount, readRecord, readText } from "../projection/read-fields.ts";
import type { ArtifactReference } from "./records.ts";

/** Undefined where it has no id. */
export function readArtifact(value: unknown): ArtifactReference | undefined {
  const { artifact_id: id, media_type, size, sha256, name } = readRecord(value);
  const artifact_id = readText(id);
  if (artifact_id === undefined) return undefined;
  const hash = readText(sha256);
  return {
    artifact_id,
    media_type: readText(media_type),
    size_bytes: readCount(size),
    digest: hash && `sha256:${hash}`,
    name: readText(name),
  };
}
