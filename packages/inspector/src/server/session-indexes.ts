// The sessions that were looked at last, each with its index. Who looks at another one makes the oldest be forgotten.

import type { HomeStore } from "./home-store.ts";
import { createSessionIndex, type SessionIndex } from "./session-index.ts";

export type SessionIndexes = ReturnType<typeof createSessionIndexes>;

const MOST = 8;
/** Of all of them together: some 110 bytes each. The one in use stays, whatever its size. */
const MOST_FACTS = 2_000_000;

export function createSessionIndexes(store: HomeStore, mostFacts = MOST_FACTS) {
  const indexes = new Map<string, Promise<SessionIndex>>();
  const made = new Map<string, SessionIndex>();

  return {
    /** Throws the store's sentence when there is no such session, or no longer. */
    of(session_id: string): Promise<SessionIndex> {
      const index = indexes.get(session_id) ?? create(session_id);
      // Last in the order: it was used last.
      indexes.delete(session_id);
      indexes.set(session_id, index);
      for (const oldest of indexes.keys()) {
        const isMuch = indexes.size > MOST || factsRead() > mostFacts;
        if (!isMuch || oldest === session_id) break;
        forget(oldest);
      }
      return index;
    },
  };

  function factsRead(): number {
    return [...made.values()].reduce((sum, index) => sum + index.readSeq(), 0);
  }

  function forget(session_id: string): void {
    indexes.delete(session_id);
    made.delete(session_id);
  }

  function create(session_id: string): Promise<SessionIndex> {
    const index = read(session_id);
    index.then(
      (read) => {
        if (indexes.get(session_id) === index) made.set(session_id, read);
      },
      () => {
        if (indexes.get(session_id) === index) forget(session_id);
      },
    );
    return index;
  }

  async function read(session_id: string): Promise<SessionIndex> {
    const reader = await (await store.get()).readSession(session_id);
    return createSessionIndex(reader);
  }
}
