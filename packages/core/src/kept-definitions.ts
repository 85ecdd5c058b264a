// The definitions a run begins with, kept as an artifact (REPLAY-1): once a session, however many runs begin on them.

import { artifactRef } from "./call/index.ts";
import type { ArtifactRecord, ArtifactStore } from "./journal/index.ts";
import { describeDefinitions } from "./registry/describe-definitions.ts";
import type { RegistrySnapshot } from "./registry/registry.ts";
import { messageOf, type ArtifactRef } from "./tool/index.ts";

/** Which definitions a run has been recorded with. */
export interface KeptDefinitions {
  readonly ref?: ArtifactRef;
  /** They were put aside for this very run. */
  readonly created?: ArtifactRecord;
  /** Why they could not be. The run continues without: it cannot be replayed, and nothing else is different. */
  readonly problem?: string;
}

export type KeepDefinitions = (
  snapshot: RegistrySnapshot,
  of: { readonly session_id: string; readonly run_id: string },
) => Promise<KeptDefinitions>;

const DEFINITIONS_NAME = "definitions.json";

export function definitionsKeeper(artifacts: ArtifactStore): KeepDefinitions {
  /** By the hash of their text: runs that begin at the same time wait for the same one. */
  const kept = new Map<string, Promise<ArtifactRecord>>();

  return async (snapshot, of) => {
    try {
      const { text, sha256, size } = describeDefinitions(snapshot);
      const known = kept.get(sha256);
      if (known !== undefined) return { ref: artifactRef(await known) };
      const { session_id, run_id } = of;
      const writing = artifacts.write(text, {
        media_type: "application/json",
        name: DEFINITIONS_NAME,
        session_id,
        run_id,
        known: { sha256, size },
      });
      kept.set(sha256, writing);
      writing.catch(() => kept.delete(sha256));
      const created = await writing;
      return { ref: artifactRef(created), created };
    } catch (error) {
      return { problem: `the definitions could not be kept: ${messageOf(error)}` };
    }
  };
}
