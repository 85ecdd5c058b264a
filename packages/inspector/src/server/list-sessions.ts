// The sessions that match a filter, last used first. What a session is known by is not in an index, so a request looks at a
// bounded number of them and says how far back it got.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { SessionRecord, Store } from "@soong/store";
import type { SessionGroup } from "../wire/overview-records.ts";
import type { SessionFilter } from "../wire/routes.ts";
import type { SessionList, SessionRow } from "../wire/session-records.ts";
import type { SessionSummaries } from "./session-summaries.ts";

const PAGE = 200;
export const MOST_LOOKED_AT = 2000;

export type SessionPlace = Pick<SessionRecord, "updated_at" | "session_id">;

export interface ListAsked {
  readonly limit: number;
  readonly after: SessionPlace | undefined;
  readonly group: SessionGroup | undefined;
  readonly filter: SessionFilter;
  readonly signal: AbortSignal;
}

export async function listSessions(
  store: Pick<Store, "sessions">,
  summaries: SessionSummaries,
  { limit, after, group, filter, signal }: ListAsked,
): Promise<SessionList> {
  const { project } = filter;
  const matches = createSessionMatcher(filter, group);
  // One more than is shown tells whether there are more.
  const size = matches === undefined ? limit + 1 : PAGE;
  const found: SessionRow[] = [];
  let last = after;
  for (let looked = 0; ;) {
    const records = await store.sessions({ limit: size, after: last, project });
    const rows = await summaries.rows(records);
    found.push(...(matches === undefined ? rows : rows.filter(matches)));
    looked += records.length;
    last = records.at(-1);
    if (found.length > limit)
      return { sessions: found.slice(0, limit), next: next(found[limit - 1]) };
    if (last === undefined || records.length < size) return { sessions: found };
    if (looked >= MOST_LOOKED_AT) {
      return { sessions: found, next: next(last), searched_to: last.updated_at };
    }
    await nextTurn();
    signal.throwIfAborted();
  }
}

function next(place: SessionPlace | undefined): string | undefined {
  return place && `${place.updated_at} ${place.session_id}`;
}

/** Undefined where every session does. The project is for the store to look for. */
export function createSessionMatcher(
  { status, tool, text }: SessionFilter,
  group: SessionGroup | undefined,
): ((row: SessionRow) => boolean) | undefined {
  if (!status && !tool && !text && group === undefined) return undefined;
  const words = (text ?? "").toLowerCase().split(/\s+/);
  const wantedTool = tool?.toLowerCase() ?? "";
  return (row) => {
    const { title, project, session_id, summary } = row;
    if (group !== undefined && groupOf(row) !== group) return false;
    if (status && row.status !== status) return false;
    const tools = summary?.tools ?? [];
    if (wantedTool !== "" && !tools.some((name) => name.toLowerCase().includes(wantedTool))) {
      return false;
    }
    const said = [title, project, session_id, summary?.model].join(" ").toLowerCase();
    return words.every((word) => said.includes(word));
  };
}

function groupOf({ summary }: SessionRow): SessionGroup {
  const isSingle = summary?.kind === "call" || summary?.kind === "playground";
  return isSingle ? "calls" : "conversations";
}
