// Puts together what the views are given: the server, the stores, and the loop that fills them.

import type { About, Changes } from "../../wire/index.ts";
import type { Api } from "../api/client.ts";
import { hashOf, type Route, routeOf } from "../route/hash-route.ts";
import { type Connection, startChangesLoop } from "../state/changes-loop.ts";
import { emptySession, type SessionModel, withChanges } from "../state/session-model.ts";
import { createStore, type Store } from "../state/store.ts";
import type { Inspector } from "./context.ts";

export interface InspectorParts {
  api: Api;
  about: About;
  connection: Store<Connection>;
  announcement: Store<string>;
}

/** A request that is held is answered long before this; a server that is stopped never does. */
const LONGEST_HOLD_MS = 60_000;

/** `stop` ends everything it began. */
export function startInspector(parts: InspectorParts): { inspector: Inspector; stop(): void } {
  const { connection, announcement } = parts;
  const home: Inspector["home"] = createStore<ReturnType<Inspector["home"]["get"]>>(undefined);
  const session = createStore<SessionModel | undefined>(undefined);
  const noSession = createStore<string | undefined>(undefined);
  const route = createStore<Route>(routeOf(location.hash));
  let newest: SessionModel | undefined;
  let frame: number | undefined;

  const loop = startChangesLoop({
    ask: (query, signal) =>
      parts.api.ask("GET /api/changes", {
        query,
        signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_HOLD_MS)]),
      }),
    wait: waited,
    onChanges: take,
    onTries: (tries, why) => {
      if (tries > 0) connection.set({ state: "lost", tries, why });
    },
    onNoSession: (_, message) => noSession.set(message),
  });

  const api: Api = {
    ask(key, asked) {
      loop.makeRoom();
      return parts.api.ask(key, asked);
    },
  };

  function take(changes: Changes): void {
    if (changes.home !== undefined) home.set(changes.home);
    lookAgainForSession();
    if (changes.session_problem !== undefined) noSession.set(changes.session_problem);
    if (changes.session === undefined || newest === undefined) return;
    if (changes.session.session.session_id !== newest.session_id) return;
    newest = withChanges(newest, changes.session);
    // However much comes between two pictures, it is drawn once. In the background there are no pictures.
    if (document.hidden) session.set(newest);
    else
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        session.set(newest);
      });
  }

  /** A session that was not there may be there by now: its first fact is written when it begins. */
  function lookAgainForSession(): void {
    if (noSession.get() === undefined || newest === undefined) return;
    const { session_id } = newest;
    if (home.get()?.sessions.some((row) => row.session_id === session_id) !== true) return;
    noSession.set(undefined);
    loop.watch(session_id);
  }

  function follow(): void {
    const next = routeOf(location.hash);
    const session_id = "session_id" in next ? next.session_id : undefined;
    if (session_id !== newest?.session_id) {
      newest = session_id === undefined ? undefined : emptySession(session_id);
      noSession.set(undefined);
      session.set(newest);
      loop.watch(session_id);
    }
    route.set(next);
  }

  const look = () => loop.setVisible(!document.hidden);
  look();
  follow();
  addEventListener("hashchange", follow);
  document.addEventListener("visibilitychange", look);

  return {
    inspector: {
      api,
      about: parts.about,
      home,
      session,
      noSession,
      connection,
      route,
      go(next, how) {
        if (how === "replace") {
          history.replaceState(null, "", hashOf(next));
          follow();
        } else location.hash = hashOf(next);
      },
      // The same words again are read out again.
      announce: (text) => announcement.set(announcement.get() === text ? `${text}\u00a0` : text),
    },
    stop() {
      loop.stop();
      if (frame !== undefined) cancelAnimationFrame(frame);
      removeEventListener("hashchange", follow);
      document.removeEventListener("visibilitychange", look);
    },
  };
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
