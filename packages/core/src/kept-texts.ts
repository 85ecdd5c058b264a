// Texts that many facts refer to, kept as artifacts: the definitions a run begins with (REPLAY-1), what is sent to a model
// (MODEL-7). Each content once a session, however many runs and requests have it.

import { artifactRef } from "./call/index.ts";
import type { ArtifactRecord, ArtifactStore } from "./journal/index.ts";
import { messageOf, type ArtifactRef, type MeasuredText } from "./tool/index.ts";

export interface KeptText {
  readonly ref?: ArtifactRef;
  /** It was kept for this very caller, who records that. */
  readonly created?: ArtifactRecord;
  /** Why it could not be. What it is of continues without: that can be shown, or replayed, in part only. */
  readonly problem?: string;
}

/** `measure`: of JSON. */
export type KeepText = (
  name: string,
  of: { readonly session_id: string; readonly run_id: string },
  measure: () => MeasuredText,
) => Promise<KeptText>;

export function createTextKeeper(artifacts: ArtifactStore): KeepText {
  /** By hash: those who keep the same text at the same time wait for the same one. */
  const kept = new Map<string, Promise<ArtifactRecord>>();

  return async (name, { session_id, run_id }, measure) => {
    try {
      const { text, sha256, size } = measure();
      const known = kept.get(sha256);
      if (known !== undefined) return { ref: artifactRef(await known) };
      const content = { sha256, size };
      // By an earlier process.
      let isFound = false;
      const find = async (): Promise<ArtifactRecord> => {
        const earlier = await artifacts.find?.(content);
        isFound = earlier !== undefined;
        const about = { media_type: "application/json", name, session_id, run_id, known: content };
        return earlier ?? artifacts.write(text, about);
      };
      const keeping = find();
      kept.set(sha256, keeping);
      keeping.catch(() => kept.delete(sha256));
      const created = await keeping;
      const ref = artifactRef(created);
      return isFound ? { ref } : { ref, created };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  };
}
