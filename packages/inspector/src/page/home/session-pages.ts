// The sessions of a table: the first page as it is now, and older pages as they were asked for.

import { useState } from "preact/hooks";
import type { SessionGroup } from "../../wire/overview-records.ts";
import type { SessionFilter } from "../../wire/routes.ts";
import type { SessionList, SessionRow } from "../../wire/session-records.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";

const PAGE = "50";

export interface SessionPagesAsked {
  readonly filter: SessionFilter;
  readonly group: SessionGroup;
  /** Another one asks again for the first page. */
  readonly version: number;
  readonly isPaused?: boolean;
}

export function useSessionPages({ filter, group, version, isPaused }: SessionPagesAsked) {
  const { api } = useInspector();
  const query = { limit: PAGE, group, ...filter };
  const key = JSON.stringify(query);
  const first = useAnswer("GET /api/sessions", { query }, { version, subject: key, isPaused });
  const [held, setHeld] = useState<{ key: string; list: SessionList }>();
  const { isRunning, problem, run } = useAction();
  const list = joinPages(first.value, held?.key === key ? held.list : undefined);

  return {
    list,
    first,
    isLoadingMore: isRunning,
    problem,
    loadMore: () =>
      void run(async () => {
        const after = list?.next;
        const page = await api.ask("GET /api/sessions", { query: { ...query, after } });
        setHeld({
          key,
          list: { ...page, sessions: [...(list?.sessions ?? []), ...page.sessions] },
        });
      }),
  };
}

/** `first` says how its part is now; what was there beyond it stays. */
export function joinPages(
  first: SessionList | undefined,
  known: SessionList | undefined,
): SessionList | undefined {
  if (first === undefined || known === undefined) return first ?? known;
  const last = first.sessions.at(-1);
  // All there are fit on the first page.
  if (last === undefined || first.next === undefined) return first;
  const ids = new Set(first.sessions.map(({ session_id }) => session_id));
  const older = known.sessions.filter((row) => isBehind(row, last) && !ids.has(row.session_id));
  return { ...known, sessions: [...first.sessions, ...older] };
}

/** In the order of the store: last used first. */
function isBehind(row: SessionRow, last: SessionRow): boolean {
  if (row.updated_at !== last.updated_at) return row.updated_at < last.updated_at;
  return row.session_id < last.session_id;
}
