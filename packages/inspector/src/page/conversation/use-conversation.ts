// The messages of an agent: the last ones anew whenever there is something new, older ones on demand.

import { useState } from "preact/hooks";
import type { Conversation, ConversationItem } from "../../wire/index.ts";
import { useLoaded } from "../api/use-loaded.ts";
import type { Loaded } from "../api/use-loaded.ts";
import { useInspector } from "../app/context.ts";
import { useSlowed } from "../state/use-slowed.ts";

export interface ShownConversation {
  items: readonly ConversationItem[];
  /** How many are left out before the first. */
  older: number;
  loadOlder: () => void;
  problem: string | undefined;
  loaded: Loaded<Conversation>;
}

export function useConversation(
  session_id: string,
  agent_id: string | undefined,
  version: number,
): ShownConversation {
  const { api } = useInspector();
  const key = `${session_id} ${agent_id ?? ""}`;
  const ask = (before: string | undefined, signal?: AbortSignal) =>
    api.ask("GET /api/sessions/:session_id/conversation", {
      path: { session_id },
      query: { agent_id: agent_id ?? "", before },
      signal,
    });
  const loaded = useLoaded(
    agent_id === undefined ? undefined : (signal) => ask(undefined, signal),
    key,
    useSlowed(version),
  );
  const [held, setHeld] = useState<{ key: string; pages: Conversation }>();
  const [problem, setProblem] = useState<string>();
  const pages = held?.key === key ? held.pages : undefined;
  const newest = loaded.value;
  const items = joined(pages?.items ?? [], newest?.items ?? []);
  return {
    items,
    older: pages?.older ?? newest?.older ?? 0,
    loaded,
    problem,
    loadOlder() {
      setProblem(undefined);
      ask(items[0]?.node_id).then(
        (page) => setHeld({ key, pages: { ...page, items: [...joined(page.items, items)] } }),
        (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
      );
    },
  };
}

/** The older ones that are still on the path, then the newer ones. */
export function joined<Item extends { node_id: string }>(
  older: readonly Item[],
  newer: readonly Item[],
): readonly Item[] {
  const [first] = newer;
  if (first === undefined) return older;
  const at = older.findIndex(({ node_id }) => node_id === first.node_id);
  const known = new Set(newer.map(({ node_id }) => node_id));
  const before = at < 0 ? older : older.slice(0, at);
  return [...before.filter(({ node_id }) => !known.has(node_id)), ...newer];
}
