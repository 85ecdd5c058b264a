// An answer of the server as a hook: asked for when the component appears and when what it depends on changes, given up
// when the component goes. What was there stays while it is asked again; after a lost connection it is asked again.

import { useCallback, useEffect, useState } from "preact/hooks";
import { useInspector } from "../app/context.ts";
import { useStore } from "../state/use-store.ts";
import { isAbort, RequestFailed } from "./client.ts";

export interface Loaded<Value> {
  /** The last one there was; undefined before the first. */
  value: Value | undefined;
  /** Why there is none, or why it is old: a sentence. */
  problem: string | undefined;
  is_loading: boolean;
  reload: () => void;
}

/** `load` undefined: nothing to ask for now. `key`: a change of it asks again and drops what was there. */
export function useLoaded<Value>(
  load: ((signal: AbortSignal) => Promise<Value>) | undefined,
  key: string,
  /** A change of it asks again, and what was there stays meanwhile. */
  version: string | number = 0,
): Loaded<Value> {
  const { connection } = useInspector();
  const isConnected = useStore(connection, ({ state }) => state === "connected");
  const [held, setHeld] = useState<Held<Value>>({ key, is_loading: load !== undefined });
  const [asked, setAsked] = useState(0);
  const reload = useCallback(() => setAsked((count) => count + 1), []);

  useEffect(() => {
    if (isConnected && held.is_unreachable === true) reload();
  }, [isConnected]);

  useEffect(() => {
    if (load === undefined) return;
    const abort = new AbortController();
    setHeld((held) =>
      held.key === key ? { ...held, is_loading: true } : { key, is_loading: true },
    );
    load(abort.signal).then(
      (value) => abort.signal.aborted || setHeld({ key, value, is_loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setHeld((held) => ({ ...held, key, ...failure(error), is_loading: false }));
      },
    );
    return () => abort.abort();
    // `load` is written where it is used, anew each time; `key` says what it asks for.
  }, [key, version, asked, load === undefined]);

  const current = held.key === key ? held : { key, is_loading: true };
  return {
    value: current.value,
    problem: current.problem,
    is_loading: current.is_loading,
    reload,
  };
}

interface Held<Value> {
  key: string;
  value?: Value;
  problem?: string;
  is_unreachable?: boolean;
  is_loading: boolean;
}

function failure(error: unknown): { problem: string; is_unreachable: boolean } {
  return {
    problem: error instanceof Error ? error.message : String(error),
    is_unreachable: error instanceof RequestFailed && error.code === "unreachable",
  };
}
