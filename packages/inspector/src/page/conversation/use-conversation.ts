// The messages of an agent: the last ones, then what is added to them, and older ones on demand.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Conversation, ConversationItem } from "../../wire/session-records.ts";
import { errorText, isAbort } from "../api/client.ts";
import { useAction } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { useSlowed } from "../parts/time.ts";
import { useStore } from "../state/store.ts";

interface Held {
  readonly key: string;
  readonly items: readonly ConversationItem[];
  /** How many are omitted before the first. */
  readonly older: number;
  /** The version that the last answer was asked for with. */
  readonly version: number;
}

/** `version`: another one asks for what is new. */
export function useConversation(session_id: string, agent_id = "", version: number) {
  const { api, connection } = useInspector();
  const isConnected = useStore(connection, ({ state }) => state === "connected");
  const key = `${session_id} ${agent_id}`;
  const [held, setHeld] = useState<Held>();
  const [failure, setFailure] = useState<string>();
  const [tries, setTries] = useState(0);
  const { problem, run, isRunning } = useAction();
  const shown = held?.key === key ? held : undefined;
  const latest = useRef(shown);
  latest.current = shown;
  const slow = useSlowed(version);

  useEffect(() => {
    if (agent_id === "" || !isConnected) return;
    const abort = new AbortController();
    const known = latest.current;
    // Results of calls that were open may still come in before the last ones.
    const after = known?.items.at(-1 - OVERLAP)?.node_id;
    const query = { agent_id, after };
    const path = { session_id };
    api
      .ask("GET /api/sessions/:session_id/conversation", { path, query, signal: abort.signal })
      .then(
        (answer) => {
          setFailure(undefined);
          setHeld((now) =>
            withAnswer(now?.key === key ? now : undefined, key, answer, after, slow),
          );
        },
        (error: unknown) => {
          if (!abort.signal.aborted && !isAbort(error)) setFailure(errorText(error));
        },
      );
    return () => abort.abort();
  }, [key, slow, tries, isConnected]);

  return {
    items: shown?.items ?? NONE,
    older: shown?.older ?? 0,
    /** Undefined before the first answer. */
    version: shown?.version,
    isLoading: shown === undefined && failure === undefined,
    problem: failure ?? problem,
    retry: () => setTries((count) => count + 1),
    isLoadingOlder: isRunning,
    loadOlder: () =>
      void run(async () => {
        const before = latest.current?.items[0]?.node_id;
        const query = { agent_id, before };
        const page = await api.ask("GET /api/sessions/:session_id/conversation", {
          path: { session_id },
          query,
        });
        setHeld((now) =>
          now?.key === key && now.items[0]?.node_id === before
            ? { ...now, items: [...page.items, ...now.items], older: page.older }
            : now,
        );
      }),
  };
}

const OVERLAP = 16;

const NONE: readonly ConversationItem[] = [];

/** What is shown after an answer: what was there up to `after` and what follows it, or what is there now. */
export function withAnswer(
  known: Held | undefined,
  key: string,
  answer: Conversation,
  after: string | undefined,
  version: number,
): Held {
  const { older, is_continued } = answer;
  const before = new Map(known?.items.map((item) => [item.node_id, item]));
  // The same message is the same object: what is drawn of it stays.
  const items = answer.items.map((item) => before.get(item.node_id) ?? item);
  const at = known?.items.findIndex(({ node_id }) => node_id === after) ?? -1;
  if (known === undefined || is_continued !== true || at === -1) {
    return { key, items, older, version };
  }
  return { ...known, items: [...known.items.slice(0, at + 1), ...items], version };
}
