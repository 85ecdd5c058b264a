// The live runtimes of a home, for the inspector (CLI-8): a connection to each, found as soon as its socket is there and
// dropped as soon as it is gone. None of them waits for another.

import { readdirSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { InspectorError, type AnswerText, type LivePort, type LiveState } from "@soong/inspector";
import { controlFolder, hasControlSockets, listLiveRuntimes } from "@soong/control";
import { describeFailure } from "../../output/index.ts";
import { ANSWER_MS, seeRuntime, type SeenRuntime } from "./live-runtime.ts";

export interface LiveRuntimesPort extends LivePort {
  /** Resolves once questions of this session are put here; also when no one looks at the page, or after a while. */
  attended(session_id: string): Promise<void>;
  close(): void;
}

/** How often to look for what is not notified: with a page open, and without. */
const LOOK_MS = { attended: 500, unattended: 2000 };
const SOCKET_ENDING = ".sock";

export function openLivePort(home: string): LiveRuntimesPort {
  const seen = new Map<string, SeenRuntime>();
  /** By name: sockets that are being connected to, or were not answered by; and when to try again. */
  const untried = new Map<string, { readonly again: number; readonly problem?: string }>();
  const listeners = new Set<() => void>();
  const textListeners = new Set<(session_id: string, text: AnswerText) => void>();
  let isAttended = false;
  let isClosed = false;
  let watcher: FSWatcher | undefined;
  let folder: string | undefined;
  let trouble: string | undefined;
  let known: LiveState | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isTelling = false;
  if (hasControlSockets()) void look();
  else trouble = "Live sessions cannot be reached on Windows yet; use the terminal they run in.";

  return {
    state: () => (known ??= gatherState()),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onText(listener) {
      textListeners.add(listener);
      return () => textListeners.delete(listener);
    },
    attend() {
      if (isAttended) return;
      isAttended = true;
      for (const runtime of seen.values()) runtime.attend();
      void look();
    },
    leave() {
      if (!isAttended) return;
      isAttended = false;
      for (const runtime of seen.values()) runtime.leave();
    },
    answer: async (session_id, question_id, answer) =>
      requireRuntime(session_id, question_id).answer(question_id, answer),
    revoke: async (session_id, grant_id) => requireRuntime(session_id).revoke(grant_id),
    abort: async (session_id, run_id) => requireRuntime(session_id).abort(run_id),
    attended: (session_id) =>
      new Promise((resolve) => {
        const isSo = (): boolean =>
          !isAttended || isClosed || trouble !== undefined || isAttendedThere(session_id);
        const check = (): void => {
          if (isSo()) done();
        };
        const done = (): void => {
          clearTimeout(enough);
          listeners.delete(check);
          resolve();
        };
        const enough = setTimeout(done, ANSWER_MS);
        listeners.add(check);
        void look();
        check();
      }),
    close() {
      isClosed = true;
      clearTimeout(timer);
      watcher?.close();
      for (const runtime of seen.values()) runtime.close();
      notifyChange();
    },
  };

  /** Never rejects: it is called by timers. */
  async function look(): Promise<void> {
    if (isClosed || !hasControlSockets()) return;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), isAttended ? LOOK_MS.attended : LOOK_MS.unattended);
    for (const runtime of seen.values()) runtime.look();
    for (const name of await socketNames()) find(name);
  }

  async function socketNames(): Promise<readonly string[]> {
    const before = trouble;
    let names: readonly string[] = [];
    try {
      folder ??= await controlFolder(home);
      names = readdirSync(folder).filter((name) => name.endsWith(SOCKET_ENDING));
      watcher ??= watchRuntime(folder);
      trouble = undefined;
    } catch (error) {
      watcher?.close();
      watcher = undefined;
      folder = undefined;
      trouble = `Live sessions cannot be reached: ${whyNot(error)}`;
    }
    for (const name of untried.keys()) if (!names.includes(name)) untried.delete(name);
    if (trouble !== before) notifyChange();
    return names;
  }

  /** Reports a new socket at once, where the system can. */
  function watchRuntime(path: string): FSWatcher | undefined {
    try {
      const watching = watch(path, { persistent: false }, () => void look());
      watching.on("error", () => {
        watching.close();
        watcher = undefined;
      });
      return watching;
    } catch {
      return undefined;
    }
  }

  function find(name: string): void {
    if (isClosed || seen.has(name) || (untried.get(name)?.again ?? 0) > performance.now()) return;
    untried.set(name, { ...untried.get(name), again: Number.POSITIVE_INFINITY });
    void connect(name);
  }

  async function connect(name: string): Promise<void> {
    try {
      const runtime = await seeRuntime(join(folder ?? "", name), notifyChange, notifyText);
      if (isClosed) return runtime.close();
      untried.delete(name);
      seen.set(name, runtime);
      void runtime.closed.then(() => {
        seen.delete(name);
        notifyChange();
      });
      if (isAttended) runtime.attend();
      runtime.look();
    } catch (error) {
      const { code, message } = error as Error & { code?: unknown };
      const again = performance.now() + ANSWER_MS;
      const isGone = code === "ECONNREFUSED" || code === "ENOENT";
      untried.set(name, isGone ? { again } : { again, problem: sentence(message) });
      // Left by a killed process; listing them clears such away.
      if (code === "ECONNREFUSED") void listLiveRuntimes(home).catch(() => {});
    }
    notifyChange();
  }

  function notifyText(session_id: string, text: AnswerText): void {
    for (const listener of textListeners) listener(session_id, text);
  }

  /** Much may change in one turn; it is reported once. */
  function notifyChange(): void {
    known = undefined;
    if (isTelling) return;
    isTelling = true;
    queueMicrotask(() => {
      isTelling = false;
      for (const listener of listeners) listener();
    });
  }

  function gatherState(): LiveState {
    const all = [...seen.values()];
    const sessions = all.flatMap((one) => {
      const live = one.live();
      return live === undefined ? [] : [[one.session_id, live] as const];
    });
    // Sessions of one process share their questions.
    const questions = new Map(
      all.flatMap((one) =>
        one.questions().map((asked) => [`${asked.pid} ${asked.question_id}`, asked]),
      ),
    );
    const silent = all.flatMap((one) => one.problem() ?? []);
    const unreached = [...untried.values()].flatMap(({ problem }) => problem ?? []);
    return {
      sessions: new Map(sessions),
      questions: [...questions.values()].toSorted((a, b) => (a.asked_at < b.asked_at ? -1 : 1)),
      grants: all.flatMap((one) => one.grants()),
      problems: [...(trouble === undefined ? [] : [trouble]), ...silent, ...unreached],
    };
  }

  function requireRuntime(session_id: string, question_id?: string): SeenRuntime {
    const all = [...seen.values()];
    // Who is shown is who is answered: of those that say the same, the last.
    const asking = all.findLast((one) =>
      one
        .questions()
        .some((asked) => asked.question_id === question_id && asked.session_id === session_id),
    );
    const found = asking ?? all.find((one) => one.session_id === session_id);
    if (found !== undefined) return found;
    throw new InspectorError("gone", `The session ${session_id} is not live: it has ended.`);
  }

  function isAttendedThere(session_id: string): boolean {
    const all = [...seen.values()];
    return all.some((one) => one.session_id === session_id && one.isAttended());
  }
}

function whyNot(error: unknown): string {
  const { name, message } = error as Error;
  return name === "ControlUnavailable" ? message : describeFailure(error).message;
}

function sentence(message: string): string {
  return message.endsWith(".") ? message : `${message}.`;
}
