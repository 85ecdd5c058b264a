// What every view is given: the server, what is known by now, and the way to other views. Puts it together, with the loop
// that fills it.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { About } from "../../wire/routes.ts";
import type { Changes, HomeState } from "../../wire/home-records.ts";
import type { Api } from "../api/client.ts";
import { writeHash, type Route, readHash } from "../route/hash-route.ts";
import { type Connection, startChangesLoop } from "../state/changes-loop.ts";
import { emptySession, type SessionModel, withChanges } from "../state/session-model.ts";
import { withTexts, type WrittenText } from "../state/written-texts.ts";
import { createStore, type Store } from "../state/store.ts";

export interface Inspector {
  readonly api: Api;
  /** What this inspector can do. */
  readonly about: About;
  /** Sessions, questions, grants; undefined until the first answer. Live. */
  readonly home: Store<HomeState | undefined>;
  /** Runs and lanes of the session that is shown; undefined when none is. Live. */
  readonly session: Store<SessionModel | undefined>;
  /** Of the session that is shown: answers that are being written, by run. Live. */
  readonly texts: Store<ReadonlyMap<string, WrittenText>>;
  /** Why there is no such session as the address says: a sentence. */
  readonly noSession: Store<string | undefined>;
  readonly connection: Store<Connection>;
  readonly route: Store<Route>;
  /** `replace`: the way back leads past where we are now. */
  readonly go: (route: Route, how?: "replace") => void;
  /** Read out to those who listen to the page, and seen by no one. */
  readonly announce: (text: string) => void;
}

export const InspectorContext = createContext<Inspector | undefined>(undefined);

export function useInspector(): Inspector {
  const inspector = useContext(InspectorContext);
  if (inspector === undefined) throw new Error("useInspector is used outside of the page");
  return inspector;
}

interface InspectorParts {
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
  const home = createStore<HomeState | undefined>(undefined);
  const session = createStore<SessionModel | undefined>(undefined);
  const noSession = createStore<string | undefined>(undefined);
  const texts = createStore<ReadonlyMap<string, WrittenText>>(new Map());
  const route = createStore<Route>(readHash(location.hash));
  let newest: SessionModel | undefined;
  let frame: number | undefined;

  const loop = startChangesLoop({
    ask: (query, signal) =>
      parts.api.ask("GET /api/changes", {
        query,
        signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_HOLD_MS)]),
      }),
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      }),
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
    if (changes.texts !== undefined && newest !== undefined) {
      texts.set(withTexts(texts.get(), changes.texts));
    }
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
    const next = readHash(location.hash);
    const session_id = "session_id" in next ? next.session_id : undefined;
    if (session_id !== newest?.session_id) {
      newest = session_id === undefined ? undefined : emptySession(session_id);
      noSession.set(undefined);
      texts.set(new Map());
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
      texts,
      noSession,
      connection,
      route,
      go(next, how) {
        if (how === "replace") {
          history.replaceState(null, "", writeHash(next));
          follow();
        } else location.hash = writeHash(next);
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
