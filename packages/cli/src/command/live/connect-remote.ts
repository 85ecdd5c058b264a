// A control client for a session that a process of another machine holds: the protocol of the socket, through the store. It follows
// the session until no one holds it any more.

import {
  CONTROL_PROTOCOL,
  ControlError,
  readStoredRequest,
  type ConnectOptions,
  type ControlClient,
  type ControlHello,
  type ControlMethod,
  type ControlMethods,
  type ListedGrant,
  type ListedQuestion,
  type SettledQuestion,
} from "@soong/control";
import { omitUndefined } from "@soong/schema";
import { isStoreAway, type QuestionRecord, type SessionHolder, type Store } from "@soong/store";
import { awaitFacts } from "../sessions/await-facts.ts";
import { readFactPages } from "../stored.ts";
import { abortRemotely, revokeRemotely } from "./act-on-remote.ts";
import { refuseRuntimeChild } from "./actor.ts";
import { answerStoredQuestion } from "./answer-stored-question.ts";
import { listRemoteGrants } from "./remote-grants.ts";

export interface RemoteConnection extends ConnectOptions {
  /** The environment of the process that connects. */
  readonly env: NodeJS.ProcessEnv;
}

type Methods = {
  readonly [M in ControlMethod]: (
    params: ControlMethods[M]["params"],
  ) => Promise<ControlMethods[M]["result"]>;
};

interface Attendance {
  stop(): void;
  /** Call it when an answer was refused: if the question is still open, it is sent again. */
  showAgain(question_id: string): void;
}

/** How often open questions are read without a notification. */
const LOOK_MS = 5_000;

/** `store`: open for writing, and closed by its owner after the client. */
export function connectRemote(
  store: Store,
  holder: SessionHolder,
  connection: RemoteConnection,
): ControlClient {
  const { env } = connection;
  const { session_id } = holder;
  const hello = toHello(holder);
  const ended = new AbortController();
  const closed = new Promise<void>((resolve) => {
    ended.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  /** Set while the client is paused. */
  let pausing: { readonly over: Promise<void>; end(): void } | undefined;
  let attending: ({ readonly name: string } & Attendance) | undefined;

  const methods: Methods = {
    hello: async () => hello,
    identify: async () => ({}),
    "grants.list": async () => ({ grants: await listGrants() }),
    async "grants.revoke"({ grant_id }) {
      const grant = (await listGrants()).find((one) => one.grant_id === grant_id);
      if (grant === undefined) throw new ControlError("not_found", "There is no such grant.");
      await revokeRemotely(store, session_id, grant_id, { env });
      return { grant };
    },
    "questions.list": async () => ({ questions: (await listOpen()).map(toListed) }),
    async "questions.attend"({ name = "program", kinds }) {
      refuseRuntimeChild({ env });
      attending?.stop();
      attending = { name, ...attend(kinds) };
      return {};
    },
    async "questions.leave"() {
      attending?.stop();
      attending = undefined;
      return {};
    },
    async "questions.answer"(answer) {
      const name = attending?.name ?? answer.name ?? "program";
      try {
        await answerStoredQuestion(store, session_id, answer, {
          answered_by: `control:${name}`,
          env,
        });
      } catch (error) {
        attending?.showAgain(answer.question_id);
        throw error;
      }
      return {};
    },
    async "facts.follow"({ after = 0 }) {
      void follow(after);
      return { after };
    },
    // The store has no partial text: messages appear when they are complete.
    "text.follow": async () => ({}),
    async "run.abort"({ run_id, reason = "aborted from another terminal" }) {
      const holders = (await store.cluster?.holders()) ?? [];
      const runs = holders.find((one) => one.session_id === session_id)?.runs ?? [];
      const run_ids = runs.map((run) => run.run_id).filter((id) => id === (run_id ?? id));
      if (run_ids.length === 0) {
        throw new ControlError("not_found", "There is no such run under way.");
      }
      await abortRemotely(store, session_id, { run_id, reason }, { env });
      return { run_ids };
    },
  };

  return {
    hello,
    closed,
    request: (method, params) => methods[method](params),
    pause() {
      pausing ??= createPause();
    },
    resume() {
      pausing?.end();
      pausing = undefined;
    },
    close() {
      attending?.stop();
      ended.abort();
      pausing?.end();
    },
  };

  async function listGrants(): Promise<ListedGrant[]> {
    return (await listRemoteGrants(store, [holder])).map(({ grant }) => grant);
  }

  async function listOpen(): Promise<QuestionRecord[]> {
    const all = await store.questions().list(session_id);
    return all.filter(({ state }) => state === "open");
  }

  /** Facts in their order, until no one holds the session any more. */
  async function follow(after: number): Promise<void> {
    const news = awaitFacts(store, session_id);
    const { signal } = ended;
    let last = after;
    while (!signal.aborted) {
      try {
        // Ask before reading, so that all facts of the last holder are read.
        const isHeld = (await store.heldSessions([session_id])).length > 0;
        const reader = await store.readSession(session_id);
        for await (const page of readFactPages(reader, { after: last })) {
          for (const fact of page) {
            await pausing?.over;
            if (signal.aborted) return news.close();
            last = fact.seq;
            connection.onEvent?.({ event: "fact", data: fact });
          }
        }
        if (!isHeld) break;
      } catch (error) {
        // While the database is unreachable, the next look tries again. Any other error ends the connection: the user gets it with
        // the rest of the facts.
        if (!isStoreAway(error)) break;
      }
      await Promise.race([news.next(), closed]);
    }
    news.close();
    attending?.stop();
    ended.abort();
  }

  /** Sends the open questions, and their ends. */
  function attend(kinds: readonly ListedQuestion["kind"][] | undefined): Attendance {
    const shown = new Map<string, QuestionRecord>();
    let looking: Promise<void> | undefined;
    let isStopped = false;
    const look = (): void => {
      looking ??= showChanges()
        // The next look tries again.
        .catch(() => {})
        .finally(() => {
          looking = undefined;
        });
    };
    const unlisten = store.cluster?.listen(`questions/${session_id}`, look);
    const timer = setInterval(look, LOOK_MS);
    look();
    return {
      stop() {
        isStopped = true;
        clearInterval(timer);
        unlisten?.();
      },
      showAgain(question_id) {
        if (shown.delete(question_id)) look();
      },
    };

    async function showChanges(): Promise<void> {
      const open = new Map((await listOpen()).map((one) => [one.question_id, one]));
      for (const [question_id] of shown) {
        if (open.has(question_id)) continue;
        const settled = await store.questions().get(session_id, question_id);
        shown.delete(question_id);
        if (!isStopped)
          connection.onEvent?.({
            event: "question.settled",
            data: toSettled(question_id, settled),
          });
      }
      for (const [question_id, question] of open) {
        if (shown.has(question_id) || kinds?.includes(question.kind) === false) continue;
        shown.set(question_id, question);
        if (!isStopped)
          connection.onEvent?.({ event: "question.opened", data: toListed(question) });
      }
    }
  }
}

export function toHello({ session_id, pid, project = "", runs }: SessionHolder): ControlHello {
  const listed = runs.map(({ role = "", ...run }) => ({ ...run, role }));
  // The store does not have the version and the number of attendants of the holder.
  const rest = { version: "", attendants: 0 };
  return { protocol: CONTROL_PROTOCOL, pid, session_id, project, runs: listed, ...rest };
}

function toListed(record: QuestionRecord): ListedQuestion {
  const { question_id, asked_at } = record;
  const { shows_all: _shows, ...stored } = readStoredRequest(record);
  return { question_id, asked_at, ...stored };
}

function toSettled(question_id: string, record: QuestionRecord | undefined): SettledQuestion {
  const { answer, answered_by } = record ?? {};
  if (answer === undefined) return { question_id, outcome: "cancelled" };
  const { decision, action } = answer as Pick<SettledQuestion, "decision" | "action">;
  return omitUndefined({
    question_id,
    outcome: "answered",
    answered_by,
    decision,
    action,
  } as const);
}

function createPause(): { readonly over: Promise<void>; end(): void } {
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end: () => end() };
}
