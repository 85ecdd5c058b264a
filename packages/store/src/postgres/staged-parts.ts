// Artifacts of a session that is copied to PostgreSQL. They are in a file on this machine until the transaction that adds the
// session.

import { createHash } from "node:crypto";
import type { ArtifactRecord } from "@soong/core";
import { refuseChangedBytes, type StagedArtifacts } from "../artifacts/artifact-bytes.ts";
import { openSpool } from "../artifacts/spool.ts";
import { sql, sqlRow } from "../sql/sql.ts";

interface Staged {
  readonly record: ArtifactRecord;
  readonly offset: number;
}

export async function stageParts(partBytes: number): Promise<StagedArtifacts> {
  const spool = await openSpool();
  /** By hash: each content is kept once for a session. */
  const staged = new Map<string, Staged>();

  return {
    async add(record, bytes) {
      const { sha256, size } = record;
      if (staged.has(sha256)) return;
      const hash = createHash("sha256");
      let offset: number | undefined;
      let written = 0;
      for await (const part of bytes) {
        const start = await spool.append(part);
        offset ??= start;
        hash.update(part);
        written += part.length;
      }
      if (written !== size || hash.digest("hex") !== sha256) refuseChangedBytes(record);
      staged.set(sha256, { record, offset: offset ?? 0 });
    },
    *commit({ session_no }) {
      for (const { record, offset } of staged.values()) {
        const { sha256, size } = record;
        const hash = createHash("sha256");
        for (let part = 0; part * partBytes < size; part += 1) {
          const start = part * partBytes;
          const bytes = spool.read(offset + start, Math.min(partBytes, size - start));
          yield* sql`INSERT INTO artifact_parts (session_no, sha256, part, bytes)
            VALUES (${session_no}, ${sha256}, ${part}, ${bytes})`;
          const there = yield* sqlRow<{ bytes: Buffer }>`SELECT bytes FROM artifact_parts
            WHERE session_no = ${session_no} AND sha256 = ${sha256} AND part = ${part}`;
          hash.update(there?.bytes ?? "");
        }
        if (hash.digest("hex") !== sha256) refuseChangedBytes(record);
      }
    },
    discard: () => spool.close(),
  };
}
