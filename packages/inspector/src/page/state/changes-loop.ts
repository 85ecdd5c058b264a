// Asks the server what is new, for as long as the page is open: one request at a time. It is held open while someone
// looks at the page; a page in the background asks every few seconds, and keeps no connection.

import { errorText, isAbort, RequestFailed } from "../api/client.ts";
import type { Changes } from "../../wire/home-records.ts";

/** Whether the server answers. */
export type Connection =
  | { state: "connecting" }
  | { state: "connected" }
  /** `tries` since it was lost; `why` is what the server says, where it says something. */
  | { state: "lost"; tries: number; why?: string };

export interface ChangesQuery {
  cursor?: string;
  session_id?: string;
  hold?: "1";
}

interface ChangesLoopOptions {
  ask(query: ChangesQuery, signal: AbortSignal): Promise<Changes>;
  /** Resolves after so long, or when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onChanges(changes: Changes): void;
  /** `tries` failures in a row, 0 after it went well again; `why` where the server refused. */
  onTries(tries: number, why?: string): void;
  /** The session that is watched cannot be: there is none of that name. */
  onNoSession(session_id: string, message: string): void;
}

export type ChangesLoop = ReturnType<typeof startChangesLoop>;

/** Between two answers that were not all there was to tell: news of a moment come together. */
const PAUSE_MS = 80;
const HIDDEN_PAUSE_MS = 3_000;
/** What was not answered by then waits for news. */
const HELD_AFTER_MS = 300;

export function startChangesLoop(options: ChangesLoopOptions) {
  let watched = watchedFrom(undefined);
  let isVisible = true;
  let isStopped = false;
  let tries = 0;
  let waiting = new AbortController();
  let held: { since: number; abort: AbortController } | undefined;

  async function pause(ms: number): Promise<void> {
    waiting = new AbortController();
    await options.wait(ms, waiting.signal);
  }

  async function round(asking: Watched): Promise<void> {
    const abort = new AbortController();
    held = { since: performance.now(), abort };
    const signal = AbortSignal.any([asking.left.signal, abort.signal]);
    const { cursor, session_id } = asking;
    const hold = isVisible ? "1" : undefined;
    const changes = await options.ask({ cursor, session_id, hold }, signal);
    held = undefined;
    if (asking !== watched || isStopped) return;
    asking.cursor = changes.cursor;
    reportTries(0);
    options.onChanges(changes);
    if (changes.session?.more !== true) await pause(isVisible ? PAUSE_MS : HIDDEN_PAUSE_MS);
  }

  async function handleFailure(asking: Watched, error: unknown): Promise<void> {
    if (asking !== watched || isStopped || isAbort(error)) return;
    const code = error instanceof RequestFailed ? error.code : "failed";
    if (code === "unauthorized") {
      isStopped = true;
      return;
    }
    if (code === "not_found" && asking.session_id !== undefined) {
      const { session_id } = asking;
      watched = watchedFrom(undefined);
      options.onNoSession(session_id, errorText(error));
      return;
    }
    // A server that was restarted may not know the cursor; from the beginning nothing is missed.
    if (code !== "unreachable") asking.cursor = undefined;
    reportTries(tries + 1, code === "unreachable" ? undefined : errorText(error));
    await pause(waitBeforeTry(tries));
  }

  function reportTries(next: number, why?: string): void {
    tries = next;
    options.onTries(next, why);
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const asking = watched;
      try {
        // One after the other is the point: a connection a tab.
        await round(asking);
      } catch (error) {
        await handleFailure(asking, error);
      }
    }
  }

  void run();
  return {
    /** Which session to tell about, from its beginning. */
    watch(session_id: string | undefined): void {
      if (session_id === watched.session_id) return;
      const { left } = watched;
      watched = watchedFrom(session_id);
      left.abort();
      if (tries === 0) waiting.abort();
    },
    setVisible(next: boolean): void {
      isVisible = next;
      if (next) waiting.abort();
    },
    /**
     * Something else is about to be asked. A browser has few connections for all pages of a host, so the one that is held
     * here is given up for it, and asked for again after it.
     */
    makeRoom(): void {
      if (held === undefined || performance.now() - held.since < HELD_AFTER_MS) return;
      held.abort.abort();
      held = undefined;
    },
    stop(): void {
      isStopped = true;
      watched.left.abort();
      waiting.abort();
    },
  };
}

type Watched = ReturnType<typeof watchedFrom>;

/** `left` is aborted when another one is watched. */
function watchedFrom(session_id: string | undefined, cursor?: string) {
  return { session_id, cursor, left: new AbortController() };
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** How long to wait before asking again, after so many failures in a row. */
export function waitBeforeTry(tries: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.max(0, tries - 1));
}
