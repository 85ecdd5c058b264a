// The sessions that were looked at last, each with its index. Who looks at another one makes the oldest be forgotten.

import type { HomeStore } from "./home-store.ts";
import { createSessionIndex, type SessionIndex } from "./session-index.ts";

export interface SessionIndexes {
  /** Throws the store's sentence when there is no such session, or no longer. */
  of(session_id: string): Promise<SessionIndex>;
}

const MOST = 8;

export function createSessionIndexes(store: HomeStore): SessionIndexes {
  const indexes = new Map<string, Promise<SessionIndex>>();

  return {
    of(session_id) {
      const index = indexes.get(session_id) ?? create(session_id);
      // Last in the order: it was used last.
      indexes.delete(session_id);
      indexes.set(session_id, index);
      for (const oldest of indexes.keys()) {
        if (indexes.size <= MOST) break;
        indexes.delete(oldest);
      }
      return index;
    },
  };

  function create(session_id: string): Promise<SessionIndex> {
    const index = read(session_id);
    index.catch(() => {
      if (indexes.get(session_id) === index) indexes.delete(session_id);
    });
    return index;
  }

  async function read(session_id: string): Promise<SessionIndex> {
    const reader = await (await store.get()).readSession(session_id);
    return createSessionIndex(reader);
  }
}
