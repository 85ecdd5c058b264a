// The definitions of a run's tools, kept as an artifact of their own. The last few stay at hand: a page that searches them
// asks with every letter.

import type { SessionReader } from "@soong/store";

export interface KeptDefinitions {
  /** Undefined where they are not there, or are not what was written. */
  of(artifact_id: string): Promise<unknown>;
}

const MOST = 4;
const MOST_BYTES = 16 * 1024 * 1024;

export function createKeptDefinitions(
  reader: Pick<SessionReader, "readArtifact">,
): KeptDefinitions {
  const kept = new Map<string, Promise<unknown>>();

  return {
    of(artifact_id) {
      const definitions = kept.get(artifact_id) ?? read(artifact_id);
      kept.delete(artifact_id);
      kept.set(artifact_id, definitions);
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST) break;
        kept.delete(oldest);
      }
      return definitions;
    },
  };

  async function read(artifact_id: string): Promise<unknown> {
    try {
      const bytes = await reader.readArtifact(artifact_id, { offset: 0, length: MOST_BYTES });
      return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    } catch {
      return undefined;
    }
  }
}
