// Sessions as the page lists them: what is kept of each, and whether someone runs it now.

import type { SessionRecord, Store } from "@soong/store";
import type { SessionRow } from "../wire/index.ts";
import type { LiveState } from "./ports.ts";

export function sessionRow(record: SessionRecord, live: LiveState | undefined): SessionRow {
  const { session_id, title, project, created_at, updated_at, last_seq } = record;
  const held = live?.sessions.get(session_id);
  return {
    session_id,
    title,
    project,
    created_at,
    updated_at,
    last_seq,
    live: held,
  };
}

/** Those used last, and all that are live however long ago their last fact is. */
export async function sessionsUsedLast(
  store: Store,
  live: LiveState | undefined,
  limit: number,
): Promise<SessionRecord[]> {
  const records = await store.sessions({ limit });
  const listed = new Set(records.map(({ session_id }) => session_id));
  for (const session_id of live?.sessions.keys() ?? []) {
    if (listed.has(session_id)) continue;
    try {
      records.push(await (await store.readSession(session_id)).record());
    } catch {
      // Live, and not kept: there is nothing of it to look at.
    }
  }
  return records;
}
