// How long to wait before asking a model again (LOOP-3): doubling, with jitter from a seeded source so that a
// recorded run waits as long when it is run again; what the provider asks for comes first.

import type { ModelError } from "../model/index.ts";

export type Backoff = (failures: number, error: ModelError) => number;

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

export function createBackoff(seed: string): Backoff {
  const random = seededRandom(seed);
  return (failures, { retry_after_ms }) => {
    const doubled = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
    // Half of it at least: many clients that failed together must not come back together.
    const jittered = Math.round(doubled * (0.5 + random() / 2));
    return isWait(retry_after_ms) ? Math.max(retry_after_ms, jittered) : jittered;
  };
}

function isWait(ms: number | undefined): ms is number {
  return ms !== undefined && Number.isFinite(ms) && ms >= 0;
}

/** FNV-1a for the seed, mulberry32 for the numbers: small, and the same everywhere. */
function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) {
    state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
