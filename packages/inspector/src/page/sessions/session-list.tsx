// The sessions at the left: live ones first, with how many questions wait in them.

import { useRef, useState } from "preact/hooks";
import type { SessionRow } from "../../wire/index.ts";
import { useInspector } from "../app/context.ts";
import { ProblemText } from "../parts/loading.tsx";
import { momentText } from "../parts/time-text.ts";
import { useClock } from "../parts/use-time.ts";
import { visible, visibleLine } from "@soong/core";
import { timelineHash } from "../route/hash-route.ts";
import { useStore } from "../state/store.ts";
import { lastPart, listed, projectOf } from "./session-order.ts";
import { useOlderSessions } from "./use-older-sessions.ts";

export function SessionList() {
  const { home, route } = useInspector();
  const recent = useStore(home, (home) => home?.sessions);
  const chosen = useStore(route, (route) => ("session_id" in route ? route.session_id : undefined));
  const older = useOlderSessions();
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const sessions = listed(recent ?? [], older.sessions, filter);
  const isChosenHere = sessions.some(({ session_id }) => session_id === chosen);
  const entry = isChosenHere ? chosen : sessions[0]?.session_id;
  const now = useClock(60_000);
  return (
    <aside id="sessions" class="sessions" aria-label="Sessions">
      <input
        type="search"
        data-search
        placeholder="Filter sessions"
        aria-label="Filter sessions"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
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
      {older.problem !== undefined && <ProblemText text={older.problem} />}
      {!older.is_all && (recent?.length ?? 0) > 0 && (
        <button type="button" class="link more" disabled={older.is_loading} onClick={older.more}>
          {older.is_loading ? "Loading…" : "Show older sessions"}
        </button>
      )}
    </aside>
  );
}

function SessionLink(props: {
  session: SessionRow;
  isChosen: boolean;
  isEntry: boolean;
  now: number;
}) {
  const { session, isChosen, now } = props;
  const { session_id, title, live, updated_at } = session;
  const project = projectOf(session);
  const asked = live?.questions ?? 0;
  return (
    <a
      href={timelineHash({ session_id })}
      aria-current={isChosen ? "true" : undefined}
      tabIndex={props.isEntry ? 0 : -1}
      title={visible(`${project ?? ""}\n${session_id}`.trim())}
    >
      <span class="session-title">
        {live !== undefined && (
          <span class="live-mark">
            <span aria-hidden="true">●</span>
            <span class="unseen">live </span>
          </span>
        )}
        {visibleLine(title ?? session_id)}
      </span>
      <span class="session-line">
        <span class="session-project">
          {project === undefined ? "" : visibleLine(lastPart(project))}
        </span>
        {asked > 0 && (
          <span class="badge">
            {asked} {asked === 1 ? "question" : "questions"}
          </span>
        )}
        <time dateTime={updated_at}>{momentText(Date.parse(updated_at), now)}</time>
      </span>
    </a>
  );
}

function onKey(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.ctrlKey || event.metaKey || event.altKey || list === null) return;
  const links = [...list.querySelectorAll<HTMLElement>("a")];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    Home: 0,
    End: links.length - 1,
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
}
