// Sessions that processes of other machines hold, for the inspector: what the store says of them, and what is sent to them
// through it. The sockets of this machine come first.

import { readStoredRequest } from "@soong/control";
import { asJson } from "@soong/schema";
import {
  InspectorError,
  type AnswerGiven,
  type GrantRow,
  type LiveSession,
  type LiveState,
  type Question,
} from "@soong/inspector";
import type { ClusterStorage, QuestionRecord, Store } from "@soong/store";
import { openHomeStore } from "../../runtime/home.ts";
import { findRemoteHolders, listRemoteGrants, revokeRemoteGrant } from "../live/remote-grants.ts";
import { withAlwaysOffers } from "./always-offers.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";
import type { LiveRuntimesPort } from "./live.ts";

const LOOK_MS = 2_000;
/** As on record for those who answer through a socket. */
const ANSWERED_BY = "control:inspector";

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
  const listeners = new Set<() => void>();
  let remote = NONE;
  let known = "";
  let merged: { readonly of: LiveState; readonly remote: Remote; state: LiveState } | undefined;
  let watching: { stop(): void } | undefined;
  let looking: Promise<void> | undefined;

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
        : change((opened) => answerInStore(opened, session_id, question_id, answer)),
    revoke: (session_id, grant_id) =>
      isHere(session_id)
        ? live.revoke(session_id, grant_id)
        : change((opened) => revoke(opened, session_id, grant_id)),
    abort: (session_id, run_id) =>
      isHere(session_id)
        ? live.abort(session_id, run_id)
        : change((opened) => abort(opened, session_id, run_id)),
    close() {
      stopWatching();
      live.close();
    },
  };

  function isHere(session_id: string): boolean {
    return live.state().sessions.has(session_id);
  }

  function watch(on: ClusterStorage): { stop(): void } {
    const unlisten = on.listen("questions", look);
    const timer = setInterval(look, LOOK_MS);
    look();
    return {
      stop() {
        unlisten();
        clearInterval(timer);
      },
    };
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

async function answerInStore(
  store: Store,
  session_id: string,
  question_id: string,
  given: AnswerGiven,
): Promise<void> {
  const questions = store.questions();
  const question = await questions.get(session_id, question_id);
  if (question?.state !== "open") {
    throw new InspectorError("settled", "Too late: this question is not open any more.");
  }
  const isPermission = question.kind === "permission";
  if (isPermission !== "decision" in given) {
    throw new InspectorError("bad_request", "This answer is for a question of another kind.");
  }
  // A yes needs the whole question in front of the user (PERM-19).
  const isNo = "decision" in given && given.decision === "deny";
  if (isPermission && !isNo && !readStoredRequest(question).shows_all) {
    throw new InspectorError(
      "bad_request",
      "What this call would do is not kept, because it is sensitive or very long: it can only be denied here, and approved at the machine that asks.",
    );
  }
  const { taken } = await questions.answer(session_id, question_id, {
    answer: { ...asJson(given), ...(isPermission && { answered_by: ANSWERED_BY }) },
    answered_by: ANSWERED_BY,
    answered_at: new Date().toISOString(),
  });
  if (!taken) throw new InspectorError("settled", "Too late: someone else has answered.");
}

async function revoke(store: Store, session_id: string, grant_id: string): Promise<void> {
  const outcome = await revokeRemoteGrant(store, { session_id, grant_id });
  if (outcome === "gone") throw refuseGone(session_id);
  if (outcome === "unconfirmed") {
    throw new InspectorError(
      "failed",
      `It was sent to the process that holds ${session_id}, which has not confirmed it yet: it may be cut off.`,
    );
  }
}

async function abort(store: Store, session_id: string, run_id: string): Promise<string[]> {
  const reason = "aborted from the inspector";
  const isSent = await store.cluster?.send(session_id, { kind: "abort", run_id, reason });
  if (isSent !== true) throw refuseGone(session_id);
  return [run_id];
}

function refuseGone(session_id: string): InspectorError {
  return new InspectorError("gone", `The session ${session_id} is not live: it has ended.`);
}
