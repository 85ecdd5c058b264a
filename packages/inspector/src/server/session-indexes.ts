// The sessions that were looked at last, each with its index. Who looks at another one makes the oldest be forgotten.

import type { HomeStore } from "./home-store.ts";
import { createSessionIndex, type SessionIndex } from "./session-index.ts";

export type SessionIndexes = ReturnType<typeof createSessionIndexes>;

const MOST = 8;
/** Of all of them together: some 110 bytes each. The one in use stays, for any size. */
const MOST_FACTS = 2_000_000;

interface Kept {
  readonly index: Promise<SessionIndex>;
  /** Once it is there. */
  made?: SessionIndex;
}

export function createSessionIndexes(store: HomeStore, mostFacts = MOST_FACTS) {
  const kept = new Map<string, Kept>();

  return {
    /** Throws the store's sentence when there is no such session, or no longer. */
    of(session_id: string): Promise<SessionIndex> {
      const entry = kept.get(session_id) ?? create(session_id);
      // Last in the order: it was used last.
      kept.delete(session_id);
      kept.set(session_id, entry);
      for (const oldest of kept.keys()) {
        const isMuch = kept.size > MOST || countFacts() > mostFacts;
        if (!isMuch || oldest === session_id) break;
        kept.delete(oldest);
      }
      return entry.index;
    },
  };

  function countFacts(): number {
    return [...kept.values()].reduce((sum, { made }) => sum + (made?.readSeq() ?? 0), 0);
  }

  function create(session_id: string): Kept {
    const reader = store.get().then((opened) => opened.readSession(session_id));
    const entry: Kept = { index: reader.then(createSessionIndex) };
    entry.index.then(
      (made) => {
        entry.made = made;
      },
      () => {
        if (kept.get(session_id) === entry) kept.delete(session_id);
      },
    );
    return entry;
  }
}
