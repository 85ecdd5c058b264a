// What is new since a page last asked (EVENT-4): everything of its cursor's versions on. A request may be held until there
// is something; a page that asks late, or never again, costs no one anything.

import { createHash } from "node:crypto";
import type { Changes, HomeState, SessionChanges } from "../wire/home-records.ts";
import { toInspectorError } from "./answer.ts";
import type { Attendance, Heartbeat } from "./attendance.ts";
import type { HomeWatch } from "./home-watch.ts";
import { InspectorError, type LivePort } from "./ports.ts";
import type { SessionIndex } from "./session-index.ts";
import type { SessionIndexes } from "./session-indexes.ts";
import { sessionRow } from "./session-summaries.ts";
import type { TextLog } from "./text-log.ts";

export interface ChangesAsked {
  readonly cursor: string | undefined;
  readonly session_id: string | undefined;
  readonly hold: boolean;
  readonly signal: AbortSignal;
}

export interface ChangesParts {
  /** Of this run of the server: a cursor of another one is none. */
  readonly serverId: string;
  readonly home: HomeWatch;
  readonly indexes: Pick<SessionIndexes, "of">;
  readonly live: LivePort | undefined;
  readonly texts: Pick<TextLog, "version" | "since">;
  readonly attendance: Attendance;
  readonly heartbeat: Heartbeat;
  readonly holdMs: number;
}

const MOST_LANES = 1000;
const MOST_HELD = 32;

/** Versions that a page has seen. */
interface Seen {
  readonly home: number;
  /** Which reading of which session. */
  readonly index: number;
  readonly timeline: number;
  /** Of the session's own row. */
  readonly row: string;
  /** Of the answers that are being written. */
  readonly texts: number;
}

const NOTHING_SEEN: Seen = { home: 0, index: 0, timeline: 0, row: "", texts: 0 };

/** Without an index: why the session cannot be read, and a row for that. */
interface SessionNews extends Omit<Seen, "home" | "texts"> {
  readonly changes?: SessionChanges;
  readonly problem?: string;
}

const NO_SESSION: SessionNews = { index: 0, timeline: 0, row: "" };

export function createChanges(parts: ChangesParts): (asked: ChangesAsked) => Promise<Changes> {
  const { serverId, home, indexes, live, texts, attendance, heartbeat, holdMs } = parts;
  let held = 0;

  return async (asked) => {
    const gone = attendance.seen();
    try {
      return await (asked.hold ? holding(asked) : now(asked));
    } finally {
      gone();
    }
  };

  async function holding(asked: ChangesAsked): Promise<Changes> {
    if (held >= MOST_HELD) {
      const message = `${MOST_HELD} pages are waiting for news already; close some of them.`;
      throw new InspectorError("failed", message, { status: 503 });
    }
    held += 1;
    const until = performance.now() + holdMs;
    try {
      for (;;) {
        const answer = await now(asked);
        const { home: homeNews, session, texts: textNews } = answer;
        const isNews = (homeNews ?? session ?? textNews) !== undefined;
        if (isNews || performance.now() >= until) return answer;
        await heartbeat.next(asked.signal);
        // No one is there to answer any more.
        asked.signal.throwIfAborted();
      }
    } finally {
      held -= 1;
    }
  }

  async function now({ cursor, session_id }: ChangesAsked): Promise<Changes> {
    const seen = readCursor(cursor);
    await home.look();
    const session = session_id === undefined ? NO_SESSION : await readSession(session_id, seen);
    const { index, timeline, row, changes, problem } = session;
    const wasProblem = seen.index === 0 ? seen.row : "";
    const isHomeNew =
      seen.home !== home.version() || wasProblem !== (problem === undefined ? "" : row);
    const written = session_id === undefined ? [] : texts.since(session_id, seen.texts);
    return {
      cursor: writeCursor({ home: home.version(), index, timeline, row, texts: texts.version() }),
      ...(isHomeNew ? { home: withProblem(home.state(), problem) } : {}),
      session: changes,
      ...(written.length === 0 ? {} : { texts: written }),
      session_problem: problem,
    };
  }

  /** One that cannot be read takes nothing else from the page: not what others ask, which is put there (PERM-6). */
  async function readSession(session_id: string, seen: Seen): Promise<SessionNews> {
    try {
      const index = await indexes.of(session_id);
      await index.look();
      return sessionChanges(index, seen);
    } catch (error) {
      const { code, message } = toInspectorError(error);
      if (code !== "failed") throw error;
      return { ...NO_SESSION, row: digest(message), problem: message };
    }
  }

  function sessionChanges(index: SessionIndex, seen: Seen): SessionNews {
    const known = seen.index === index.id ? seen : NOTHING_SEEN;
    const { version, more, ...rows } = index.timeline.changedSince(known.timeline, MOST_LANES);
    const session = sessionRow(index.record(), live?.state());
    const read_seq = index.readSeq();
    const row = digest(JSON.stringify([session, read_seq]));
    const news = { index: index.id, timeline: version, row };
    if (row === known.row && Object.values(rows).every(({ length }) => length === 0)) return news;
    const changes = { session, read_seq, ...rows, more: more || read_seq < session.last_seq };
    return { ...news, changes };
  }

  function writeCursor(seen: Seen): string {
    return [serverId, seen.home, seen.index, seen.timeline, seen.row, seen.texts].join(".");
  }

  /** One of another server, or nonsense: as if there were none. */
  function readCursor(cursor = ""): Seen {
    const [, id, ...versions] = CURSOR.exec(cursor) ?? [];
    const [homeVersion = 0, index = 0, timeline = 0] = versions.map(Number);
    if (id !== serverId) return NOTHING_SEEN;
    const row = versions[3] ?? "";
    return { home: homeVersion, index, timeline, row, texts: Number(versions[4] ?? 0) };
  }
}

const CURSOR = /^([^.]*)\.(\d{1,15})\.(\d{1,15})\.(\d{1,15})\.([^.]*)\.(\d{1,15})$/u;

function withProblem(state: HomeState, problem: string | undefined): HomeState {
  if (problem === undefined || state.problems.includes(problem)) return state;
  return { ...state, problems: [...state.problems, problem] };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
