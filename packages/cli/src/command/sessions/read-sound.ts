// Reads facts of many sessions, so that a damaged session does not keep the others from being listed.

import type { Fact } from "@soong/core";
import { StoreError } from "@soong/store";

export interface SoundFacts {
  readonly facts: readonly Fact[];
  /** Sessions with a fact that is not what was written: none of theirs is in `facts`. `soong verify` says what is wrong. */
  readonly damaged: ReadonlySet<string>;
}

/** Reads the sessions together; only where that fails, one by one. */
export async function readSound(
  session_ids: readonly string[],
  read: (session_ids: readonly string[]) => Promise<readonly Fact[]>,
): Promise<SoundFacts> {
  try {
    return { facts: await read(session_ids), damaged: new Set() };
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "store_corrupted") throw error;
    if (session_ids.length <= 1) return { facts: [], damaged: new Set(session_ids) };
  }
  const each = await Promise.all(session_ids.map((id) => readSound([id], read)));
  return {
    facts: each.flatMap(({ facts }) => facts),
    damaged: new Set(each.flatMap(({ damaged }) => [...damaged])),
  };
}
