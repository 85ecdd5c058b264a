// The sessions that were looked at last, each with its index. Who looks at another one makes the oldest be forgotten.

import { createRedactor } from "@soong/core";
import { followFactNews } from "./fact-news.ts";
import type { HomeStore } from "./home-store.ts";
import { createRedactedReader } from "./redacted-reader.ts";
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

/** `onNews`: facts of one of them have come. */
export function createSessionIndexes(
  store: HomeStore,
  { mostFacts = MOST_FACTS, onNews = (): void => {}, redactor = createRedactor() } = {},
) {
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
        forget(oldest);
      }
      return entry.index;
    },
    close(): void {
      for (const session_id of kept.keys()) forget(session_id);
    },
  };

  function forget(session_id: string): void {
    const entry = kept.get(session_id);
    kept.delete(session_id);
    void entry?.index.then(
      (index) => index.close(),
      () => {},
    );
  }

  function countFacts(): number {
    return [...kept.values()].reduce((sum, { made }) => sum + (made?.readSeq() ?? 0), 0);
  }

  function create(session_id: string): Kept {
    const entry: Kept = { index: open(session_id) };
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

  async function open(session_id: string): Promise<SessionIndex> {
    const opened = await store.get();
    const recorded = await opened.readSession(session_id);
    const reader = createRedactedReader(recorded, redactor);
    const news = followFactNews(opened, session_id, onNews);
    try {
      return await createSessionIndex(reader, news, recorded);
    } catch (error) {
      news.close();
      throw error;
    }
  }
}
