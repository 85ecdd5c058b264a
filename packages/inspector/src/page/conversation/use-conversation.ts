// The messages of an agent: the last ones again whenever there is something new, older ones on demand.

import { useAction } from "../api/use-action.ts";
import { useState } from "preact/hooks";
import type { Conversation, ConversationItem } from "../../wire/index.ts";
import { useAnswer, type Answer } from "../api/use-answer.ts";
import { useInspector } from "../app/context.ts";
import { useSlowed } from "../parts/use-time.ts";

export interface ShownConversation {
  items: readonly ConversationItem[];
  /** How many are omitted before the first. */
  older: number;
  loadOlder: () => void;
  problem: string | undefined;
  loaded: Answer<Conversation>;
}

export function useConversation(
  session_id: string,
  agent_id: string | undefined,
  version: number,
): ShownConversation {
  const { api } = useInspector();
  const key = `${session_id} ${agent_id ?? ""}`;
  const asked = (before?: string) => ({
    path: { session_id },
    query: { agent_id: agent_id ?? "", before },
  });
  const loaded = useAnswer("GET /api/sessions/:session_id/conversation", asked(), {
    version: useSlowed(version),
    subject: agent_id,
    isPaused: agent_id === undefined,
  });
  const [held, setHeld] = useState<{ key: string; pages: Conversation }>();
  const { problem, run } = useAction();
  const pages = held?.key === key ? held.pages : undefined;
  const newest = loaded.value;
  const items = joined(pages?.items ?? [], newest?.items ?? []);
  return {
    items,
    older: pages?.older ?? newest?.older ?? 0,
    loaded,
    problem,
    loadOlder: () =>
      void run(async () => {
        const older = asked(items[0]?.node_id);
        const page = await api.ask("GET /api/sessions/:session_id/conversation", older);
        setHeld({ key, pages: { ...page, items: [...joined(page.items, items)] } });
      }),
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
