// Sessions that processes of other machines hold, for the inspector: what the store says of them, and what is sent to them
// through it. The sockets of this machine come first.

import { ControlError, readStoredRequest } from "@soong/control";
import {
  InspectorError,
  type GrantRow,
  type LiveSession,
  type LiveState,
  type Question,
} from "@soong/inspector";
import type { ClusterStorage, QuestionRecord, Store } from "@soong/store";
import { openHomeStore } from "../../runtime/home.ts";
import { abortRemotely, revokeRemotely } from "../live/act-on-remote.ts";
import { answerStoredQuestion } from "../live/answer-stored-question.ts";
import { findRemoteHolders, listRemoteGrants } from "../live/remote-grants.ts";
import { withAlwaysOffers } from "./always-offers.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";
import type { LiveRuntimesPort } from "./live.ts";

/** Besides being notified: a process that was killed says nothing. */
const LOOK_MS = 5_000;
/** Of sessions that say much. */
const SHORTEST_MS = 500;
const MOST_FOLLOWED = 100;
/** As on record for those who answer through a socket. */
const ANSWERED_BY = "control:inspector";
const ABORT_REASON = "aborted from the inspector";

type Remote = Omit<LiveState, "problems">;

const NONE: Remote = { sessions: new Map(), questions: [], grants: [] };

/** As it is, where the store is of one machine. `store` is only read: what changes something opens it for that. */
export function withRemoteSessions(
  live: LiveRuntimesPort,
  store: Store,
  place: InspectedHome,
): LiveRuntimesPort {
  const { cluster } = store;
  if (cluster === undefined) return live;
  const actor = { answered_by: ANSWERED_BY, env: place.env };
  const listeners = new Set<() => void>();
  let remote = NONE;
  let known = "";
  let merged: { readonly of: LiveState; readonly remote: Remote; state: LiveState } | undefined;
  let watching: { stop(): void } | undefined;
  let looking: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  const followed = new Map<string, () => void>();

  return {
    ...live,
    state() {
      const of = live.state();
      if (merged?.of !== of || merged.remote !== remote) {
        merged = { of, remote, state: mergeStates(of, remote) };
      }
      return merged.state;
    },
    onChange(listener) {
      const stop = live.onChange(listener);
      listeners.add(listener);
      return () => {
        stop();
        listeners.delete(listener);
      };
    },
    attend() {
      live.attend();
      watching ??= watch(cluster);
    },
    leave() {
      live.leave();
      stopWatching();
    },
    answer: (session_id, question_id, answer) =>
      isHere(session_id)
        ? live.answer(session_id, question_id, answer)
        : change((opened) =>
            answerStoredQuestion(opened, session_id, { question_id, ...answer }, actor),
          ),
    revoke: (session_id, grant_id) =>
      isHere(session_id)
        ? live.revoke(session_id, grant_id)
        : change((opened) => revokeRemotely(opened, session_id, grant_id, actor)),
    abort: (session_id, run_id) =>
      isHere(session_id)
        ? live.abort(session_id, run_id)
        : change(async (opened) => {
            await abortRemotely(opened, session_id, { run_id, reason: ABORT_REASON }, actor);
            return [run_id];
          }),
    close() {
      stopWatching();
      live.close();
    },
  };

  function isHere(session_id: string): boolean {
    return live.state().sessions.has(session_id);
  }

  function watch(on: ClusterStorage): { stop(): void } {
    const unlisten = ["questions", "sessions"].map((topic) => on.listen(topic, look));
    const timer = setInterval(look, LOOK_MS);
    look();
    return {
      stop() {
        for (const stop of unlisten) stop();
        clearInterval(timer);
        clearTimeout(soon);
        soon = undefined;
        follow(on, []);
      },
    };
  }

  /** Runs and grants of these sessions change with their facts. */
  function follow(on: ClusterStorage, session_ids: readonly string[]): void {
    for (const [session_id, stop] of followed) {
      if (session_ids.includes(session_id)) continue;
      followed.delete(session_id);
      stop();
    }
    for (const session_id of session_ids.slice(0, MOST_FOLLOWED)) {
      if (followed.has(session_id)) continue;
      followed.set(session_id, on.listen(`facts/${session_id}`, lookSoon));
    }
  }

  function lookSoon(): void {
    soon ??= setTimeout(() => {
      soon = undefined;
      look();
    }, SHORTEST_MS);
  }

  function stopWatching(): void {
    watching?.stop();
    watching = undefined;
  }

  /** What cannot be read now is read a moment later; the page says what is wrong with the store. */
  function look(): void {
    looking ??= readRemote(store, live.state())
      .then(take, () => {})
      .finally(() => {
        looking = undefined;
      });
  }

  function take(read: Remote): void {
    if (watching !== undefined && cluster !== undefined) follow(cluster, [...read.sessions.keys()]);
    const text = JSON.stringify([...read.sessions, read.questions, read.grants]);
    if (text === known) return;
    known = text;
    remote = read;
    for (const listener of listeners) listener();
  }

  /** What changed is seen at once. */
  function change<T>(work: (opened: Store) => Promise<T>): Promise<T> {
    return withInspectorErrors(async () => {
      const opened = await openHomeStore(place);
      try {
        return await work(opened);
      } catch (error) {
        throw error instanceof ControlError ? toInspectorError(error) : error;
      } finally {
        await opened.close();
        look();
      }
    });
  }
}

function mergeStates(here: LiveState, remote: Remote): LiveState {
  const elsewhere = [...remote.sessions].filter(([id]) => !here.sessions.has(id));
  const isElsewhere = ({ session_id }: { session_id: string }): boolean =>
    !here.sessions.has(session_id);
  return {
    sessions: new Map([...here.sessions, ...elsewhere]),
    questions: [...here.questions, ...remote.questions.filter(isElsewhere)],
    grants: [...here.grants, ...remote.grants.filter(isElsewhere)],
    problems: here.problems,
  };
}

async function readRemote(store: Store, here: LiveState): Promise<Remote> {
  const holders = await findRemoteHolders(store, new Set(here.sessions.keys()));
  if (holders.length === 0) return NONE;
  const [asked, granted] = await Promise.all([
    store.questions().list(),
    listRemoteGrants(store, holders),
  ]);
  const open = asked.filter(({ state }) => state === "open");
  const sessions = new Map<string, LiveSession>();
  for (const { session_id, pid, host, project = "", runs } of holders) {
    const questions = open.filter((one) => one.session_id === session_id).length;
    const listed = runs.map(({ role = "", ...run }) => ({ ...run, role }));
    sessions.set(session_id, { pid, host, project, runs: listed, questions });
  }
  const questions = open.flatMap((record): Question[] => {
    const { pid, project } = sessions.get(record.session_id) ?? {};
    return pid === undefined || project === undefined ? [] : [toQuestion(record, pid, project)];
  });
  const grants = granted.map(({ grant, pid, project }): GrantRow => ({ ...grant, pid, project }));
  return { sessions, questions, grants };
}

function toQuestion(record: QuestionRecord, pid: number, project: string): Question {
  const { question_id, session_id, asked_at } = record;
  const { shows_all: _shows, ...stored } = readStoredRequest(record);
  return withAlwaysOffers({ question_id, session_id, asked_at, pid, project, ...stored });
}

/** In words for the page. */
function toInspectorError({ code, message }: ControlError): InspectorError {
  if (code === "not_found") return new InspectorError("settled", message);
  if (code === "unreachable") return new InspectorError("gone", message);
  return new InspectorError(code === "bad_params" ? "bad_request" : "failed", message);
}
