// Sessions beyond those that were used last, asked for a page at a time.

import { useAction } from "../api/use-action.ts";
import { useEffect, useState } from "preact/hooks";
import type { SessionRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";

export interface OlderSessions {
  sessions: readonly SessionRow[];
  is_loading: boolean;
  /** There are no more. */
  is_all: boolean;
  problem: string | undefined;
  more: () => void;
}

const PAGE = "100";
/** The first pages may hold only what is listed already. */
const MOST_PAGES_AT_ONCE = 5;

export function useOlderSessions(): OlderSessions {
  const { api, home } = useInspector();
  // Nothing is offered before it is known that there is something.
  const [held, setHeld] = useState<Held>({ sessions: [], is_all: true });
  const { isRunning, problem, run } = useAction();

  async function load(): Promise<Held> {
    const known = new Set(
      [...(home.get()?.sessions ?? []), ...held.sessions].map(({ session_id }) => session_id),
    );
    let { sessions, next } = held;
    for (let page = 0; page < MOST_PAGES_AT_ONCE; page += 1) {
      // Each page says where the next one begins.
      const answer = await api.ask("GET /api/sessions", {
        query: { limit: PAGE, after: next },
      });
      const fresh = answer.sessions.filter(({ session_id }) => !known.has(session_id));
      sessions = [...sessions, ...fresh];
      next = answer.next;
      if (next === undefined || fresh.length > 0) break;
    }
    return { sessions, is_all: next === undefined, next };
  }

  useEffect(() => {
    const abort = new AbortController();
    api.ask("GET /api/sessions", { query: { limit: PAGE }, signal: abort.signal }).then(
      ({ sessions, next }) => setHeld({ sessions, is_all: next === undefined, next }),
      // The list of those used last says what is wrong, if anything is.
      () => undefined,
    );
    return () => abort.abort();
  }, [api]);

  return {
    ...held,
    is_loading: isRunning,
    problem,
    more: () => void run(async () => setHeld(await load())),
  };
}

interface Held {
  sessions: readonly SessionRow[];
  is_all: boolean;
  next?: string;
}
