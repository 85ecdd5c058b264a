// Which sessions are listed, and in what order: live ones first, then those used last. Pure.

import type { SessionRow } from "../../wire/index.ts";
import { matcherOf } from "../parts/text.tsx";

/** `recent` are as they are now; `older` were asked for at some time. */
export function listed(
  recent: readonly SessionRow[],
  older: readonly SessionRow[],
  filter: string,
): readonly SessionRow[] {
  const known = new Set(recent.map(({ session_id }) => session_id));
  const all = [...recent, ...older.filter(({ session_id }) => !known.has(session_id))];
  const matches = matcherOf(filter);
  return all.filter((session) => matches(searchText(session))).toSorted(before);
}

function before(a: SessionRow, b: SessionRow): number {
  const live = Number(b.live !== undefined) - Number(a.live !== undefined);
  if (live !== 0) return live;
  const used = Date.parse(b.updated_at) - Date.parse(a.updated_at);
  return used !== 0 && !Number.isNaN(used) ? used : a.session_id < b.session_id ? 1 : -1;
}

function searchText(session: SessionRow): string {
  const { title = "", session_id, live } = session;
  return `${title} ${projectOf(session) ?? ""} ${session_id} ${live === undefined ? "" : "live"}`;
}

export function projectOf({ project, live }: SessionRow): string | undefined {
  return project ?? live?.project;
}

/** The end of a path says most of it. */
export function lastPart(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== "");
  return parts[parts.length - 1] ?? path;
}
