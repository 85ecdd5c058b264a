// What a component asks the server for: answers to show, and things to do.

import { useCallback, useEffect, useState } from "preact/hooks";
import type { Routes } from "../../wire/routes.ts";
import { useInspector } from "../app/inspector.ts";
import { useStore } from "../state/store.ts";
import { errorText, isAbort, RequestFailed, type AnyAsked, type Asked } from "./client.ts";

export interface Answer<Value> {
  /** The last one there was; undefined before the first. */
  value: Value | undefined;
  /** Why there is none, or why it is old: a sentence. */
  problem: string | undefined;
  is_loading: boolean;
  reload: () => void;
}

interface Held<Value> extends Partial<Answer<Value>> {
  key?: string;
  is_loading: boolean;
  is_unreachable?: boolean;
}

interface AnswerOptions {
  /** Another one asks again, and what was there stays meanwhile; as with another query. */
  version?: string | number;
  /** Another one drops what was there; as with another path. */
  subject?: string | undefined;
  /** Nothing is asked for now. */
  isPaused?: boolean;
}

/**
 * Asked for when the component appears and when what it depends on changes, cancelled when the component goes. After a
 * lost connection it is asked for again.
 */
export function useAnswer<Route extends keyof Routes>(
  route: Route,
  asked: Asked<Route>,
  { version = "", subject = "", isPaused = false }: AnswerOptions = {},
): Answer<Routes[Route]["answer"]> {
  const { api, connection } = useInspector();
  const isConnected = useStore(connection, ({ state }) => state === "connected");
  const { path, query }: AnyAsked = asked;
  const key = JSON.stringify([route, path, subject]);
  const [held, setHeld] = useState<Held<Routes[Route]["answer"]>>({ key, is_loading: !isPaused });
  const [requests, setRequests] = useState(0);
  const reload = useCallback(() => setRequests((count) => count + 1), []);

  useEffect(() => {
    if (isConnected && held.is_unreachable === true) reload();
  }, [isConnected]);

  useEffect(() => {
    if (isPaused) return;
    const abort = new AbortController();
    setHeld((held) => ({ ...(held.key === key ? held : { key }), is_loading: true }));
    api.ask(route, { ...asked, signal: abort.signal }).then(
      (value) => abort.signal.aborted || setHeld({ key, value, is_loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        const is_unreachable = error instanceof RequestFailed && error.code === "unreachable";
        const problem = errorText(error);
        setHeld((held) => ({ ...held, key, problem, is_unreachable, is_loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, JSON.stringify(query), version, requests, isPaused]);

  const shown: typeof held = held.key === key ? held : { is_loading: true };
  return { value: shown.value, problem: shown.problem, is_loading: shown.is_loading, reload };
}

/** Something that a user asks the server to do: whether it is under way, and why it failed. */
export function useAction() {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<string>();

  /** True once it is done. */
  async function run(work: () => Promise<void>): Promise<boolean> {
    setRunning(true);
    setProblem(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(errorText(error));
      return false;
    } finally {
      setRunning(false);
    }
  }

  return { isRunning, problem, run };
}
