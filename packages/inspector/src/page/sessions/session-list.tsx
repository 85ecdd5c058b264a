// The sessions at the left: live ones first, then those used last, with how many questions wait in them.

import { visible, visibleLine } from "@soong/core";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionRow } from "../../wire/session-records.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { TextInput } from "../parts/input.tsx";
import { findSign, toneStyle } from "../parts/signs.tsx";
import { createMatcher, ProblemText } from "../parts/text.tsx";
import { ageText, useClock } from "../parts/time.ts";
import { linkToSession } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";

export function SessionList(props: { children?: ComponentChildren }) {
  const { home, route } = useInspector();
  const recent = useStore(home, (home) => home?.sessions);
  const chosen = useStore(route, (route) => ("session_id" in route ? route.session_id : undefined));
  const older = useOlderSessions();
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const sessions = listSessions(recent ?? [], older.sessions, filter);
  const isChosenHere = sessions.some(({ session_id }) => session_id === chosen);
  const entry = isChosenHere ? chosen : sessions[0]?.session_id;
  const now = useClock(60_000);
  return (
    <aside id="sessions" class="sessions" aria-label="Sessions">
      <div class="sessions-body">
        <TextInput
          type="search"
          data-search
          placeholder="Filter sessions"
          aria-label="Filter sessions"
          value={filter}
          onText={setFilter}
        />
        <ul ref={list} onKeyDown={(event) => onKey(event, list.current)}>
          {sessions.map((session) => (
            <li key={session.session_id}>
              <SessionLink
                session={session}
                isChosen={session.session_id === chosen}
                isEntry={session.session_id === entry}
                now={now}
              />
            </li>
          ))}
        </ul>
        {recent === undefined && <p class="quiet">Loading sessions…</p>}
        {sessions.length === 0 && filter !== "" && <p class="quiet">No session matches.</p>}
        {filter !== "" && !older.is_all && (
          <p class="quiet">Older sessions are searched once they are shown.</p>
        )}
        <ProblemText text={older.problem} />
        {!older.is_all && (recent?.length ?? 0) > 0 && (
          <button type="button" class="link more" disabled={older.isRunning} onClick={older.more}>
            {older.isRunning ? "Loading…" : "Show older sessions"}
          </button>
        )}
      </div>
      {props.children}
    </aside>
  );
}

function SessionLink(props: {
  session: SessionRow;
  isChosen: boolean;
  isEntry: boolean;
  now: number;
}) {
  const { session_id, title, live, updated_at } = props.session;
  const project = findProject(props.session) ?? "";
  const asked = live?.questions ?? 0;
  return (
    <a
      href={linkToSession(session_id)}
      aria-current={props.isChosen ? "true" : undefined}
      tabIndex={props.isEntry ? 0 : -1}
      title={visible(`${project}\n${session_id}`.trim())}
    >
      <StatusDot session={props.session} />
      <span class="session-title">{visibleLine(title ?? session_id)}</span>
      {asked > 0 && (
        <span class="badge">
          {asked}
          <span class="unseen"> {asked === 1 ? "question" : "questions"}</span>
        </span>
      )}
      <time dateTime={updated_at}>{ageText(Date.parse(updated_at), props.now)}</time>
    </a>
  );
}

/** A shape and a colour, with a word for those who do not see it. */
function StatusDot({ session: { status, live } }: { session: SessionRow }) {
  const { icon, word, tone } = findSign(status ?? "unknown");
  if (live === undefined && status === undefined) return <span class="status-dot" />;
  return (
    <span class="status-dot" style={toneStyle(live === undefined ? tone : "good")}>
      <span aria-hidden="true">{live === undefined ? icon : "●"}</span>
      <span class="unseen">{live === undefined ? word : "live"} </span>
    </span>
  );
}

function onKey(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.ctrlKey || event.metaKey || event.altKey || list === null) return;
  const links = [...list.querySelectorAll<HTMLElement>("a")];
  const at = links.findIndex((link) => link === document.activeElement);
  const last = links.length - 1;
  const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: last };
  const next = to[event.key as keyof typeof to];
  if (next === undefined) return;
  event.preventDefault();
  links[Math.max(0, Math.min(last, next))]?.focus();
}

/** `recent` are as they are now; `older` were asked for at some time. */
export function listSessions(
  recent: readonly SessionRow[],
  older: readonly SessionRow[],
  filter: string,
): readonly SessionRow[] {
  const matches = createMatcher(filter);
  return [...recent, ...older.filter(isNotIn(recent))]
    .filter((session) => {
      const { title, session_id, live } = session;
      return matches(
        [title, findProject(session), session_id, live && "live", session.status].join(" "),
      );
    })
    .toSorted(before);
}

function isNotIn(known: readonly SessionRow[]): (session: SessionRow) => boolean {
  const ids = new Set(known.map(({ session_id }) => session_id));
  return ({ session_id }) => !ids.has(session_id);
}

function before(a: SessionRow, b: SessionRow): number {
  const live = Number(b.live !== undefined) - Number(a.live !== undefined);
  if (live !== 0) return live;
  const used = Date.parse(b.updated_at) - Date.parse(a.updated_at);
  return used !== 0 && !Number.isNaN(used) ? used : a.session_id < b.session_id ? 1 : -1;
}

export function findProject({ project, live }: SessionRow): string | undefined {
  return project ?? live?.project;
}

/** The end of a path says most of it. */
export function lastPart(path: string): string {
  return path.split(/[/\\]/).findLast((part) => part !== "") ?? path;
}

const PAGE = "100";
/** The first pages may hold only what is listed already. */
const MOST_PAGES_AT_ONCE = 5;

interface Held {
  sessions: readonly SessionRow[];
  /** There are no more. */
  is_all: boolean;
  next?: string;
}

/** Sessions beyond those that were used last, asked for a page at a time. */
function useOlderSessions() {
  const { api, home } = useInspector();
  // Nothing is offered before it is known that there is something.
  const [held, setHeld] = useState<Held>({ sessions: [], is_all: true });
  const { isRunning, problem, run } = useAction();

  async function load(): Promise<void> {
    const isNew = isNotIn([...(home.get()?.sessions ?? []), ...held.sessions]);
    let { sessions, next } = held;
    for (let page = 0; page < MOST_PAGES_AT_ONCE; page += 1) {
      // Each page says where the next one begins.
      const answer = await api.ask("GET /api/sessions", { query: { limit: PAGE, after: next } });
      const fresh = answer.sessions.filter(isNew);
      sessions = [...sessions, ...fresh];
      next = answer.next;
      if (next === undefined || fresh.length > 0) break;
    }
    setHeld({ sessions, is_all: next === undefined, next });
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

  return { ...held, isRunning, problem, more: () => void run(load) };
}
