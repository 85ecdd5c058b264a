// The conversation of an agent beside the timeline: what the model reads. Each call leads to its lane, and the call that
// was chosen is shown here.

import { visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Conversation } from "../../wire/session-records.ts";
import { useAction, useAnswer } from "../api/use-answer.ts";
import { useInspector } from "../app/inspector.ts";
import { LinkButton } from "../parts/button.tsx";
import { Select } from "../parts/input.tsx";
import { countText, Loaded, ProblemText } from "../parts/text.tsx";
import { useSlowed } from "../parts/time.ts";
import type { SessionRoute } from "../route/hash-route.ts";
import { runsInOrder } from "../sessions/run-picker.tsx";
import type { SessionModel } from "../state/session-model.ts";
import { Message } from "./message.tsx";

export function ConversationPane({ route, model }: { route: SessionRoute; model: SessionModel }) {
  const { run_id, tool_call_id, node_id } = route;
  const { session_id } = model;
  const { announce } = useInspector();
  const agents = listAgents(model);
  const [asked, setAsked] = useState<string>();
  const chosen = run_id === undefined ? undefined : model.runs.get(run_id)?.agent_id;
  const agent_id = asked ?? chosen ?? mainAgent(model) ?? agents[0]?.agent_id;
  const conversation = useConversation(session_id, agent_id, findVersion(model, agent_id));
  const { items, older, loaded } = conversation;
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => setAsked(undefined), [run_id, tool_call_id, node_id]);
  const isChosen = tool_call_id !== undefined || node_id !== undefined;
  useStickToEnd(box, items.length, isChosen);
  const isChosenHere = items.some((item) =>
    node_id === undefined
      ? item.tool_call_id === tool_call_id && item.run_id === run_id
      : item.node_id === node_id,
  );
  useEffect(() => {
    if (!isChosen) return;
    const block = node_id === undefined ? "nearest" : "center";
    box.current?.querySelector(".chosen")?.scrollIntoView({ block });
  }, [run_id, tool_call_id, node_id, isChosenHere]);
  useEffect(() => {
    // A message that was searched for may be far back.
    if (node_id !== undefined && !isChosenHere && older > 0) conversation.loadOlder();
  }, [node_id, isChosenHere, older]);

  if (agent_id === undefined) {
    return <p class="quiet">{model.is_loading ? "Loading…" : "No messages yet."}</p>;
  }
  return (
    <div
      class="conversation"
      ref={box}
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      aria-live="off"
    >
      {agents.length > 1 && (
        <label class="agent-picker">
          Agent{" "}
          <Select
            value={agent_id}
            options={agents.map(({ agent_id, name }) => [agent_id, visibleLine(name)])}
            onChoose={(agent_id) => {
              setAsked(agent_id);
              announce(`Conversation of ${agent_id}`);
            }}
          />
        </label>
      )}
      <Loaded from={loaded} what="the conversation" />
      {older > 0 && (
        <LinkButton onClick={conversation.loadOlder}>
          Show older messages ({countText(older)})
        </LinkButton>
      )}
      <ProblemText text={conversation.problem} />
      {node_id !== undefined && loaded.value && older === 0 && !isChosenHere && (
        <p class="quiet">
          The message that was searched for is in a branch that this conversation left.
        </p>
      )}
      {items.map((item) => (
        <Message
          key={item.node_id}
          item={item}
          session_id={session_id}
          chosen={route}
          lanes={model.lanes}
        />
      ))}
      {loaded.value && items.length === 0 && <p class="quiet">No messages yet.</p>}
    </div>
  );
}

const NEAR_END_PX = 80;

/** New messages are followed by those who are at the end, and by no one else. */
function useStickToEnd(
  box: { current: HTMLElement | null },
  count: number,
  looksElsewhere: boolean,
): void {
  const wasAtEnd = useRef(true);
  useEffect(() => {
    const scroller = box.current?.parentElement;
    if (!scroller) return;
    const look = () => {
      wasAtEnd.current =
        scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - NEAR_END_PX;
    };
    scroller.addEventListener("scroll", look, { passive: true });
    return () => scroller.removeEventListener("scroll", look);
  }, [count === 0]);
  useEffect(() => {
    const scroller = box.current?.parentElement;
    if (scroller && wasAtEnd.current && !looksElsewhere) scroller.scrollTop = scroller.scrollHeight;
  }, [count]);
}

/** The messages of an agent: the last ones again whenever there is something new, older ones on demand. */
function useConversation(session_id: string, agent_id = "", version: number) {
  const { api } = useInspector();
  const key = `${session_id} ${agent_id}`;
  const asked = (before?: string) => ({ path: { session_id }, query: { agent_id, before } });
  const loaded = useAnswer("GET /api/sessions/:session_id/conversation", asked(), {
    version: useSlowed(version),
    subject: agent_id,
    isPaused: agent_id === "",
  });
  const [held, setHeld] = useState<{ key: string; pages: Conversation }>();
  const { problem, run } = useAction();
  const pages = held?.key === key ? held.pages : undefined;
  const items = joinItems(pages?.items ?? [], loaded.value?.items ?? []);
  return {
    items,
    /** How many are omitted before the first. */
    older: pages?.older ?? loaded.value?.older ?? 0,
    loaded,
    problem,
    loadOlder: () =>
      void run(async () => {
        const older = asked(items[0]?.node_id);
        const page = await api.ask("GET /api/sessions/:session_id/conversation", older);
        setHeld({ key, pages: { ...page, items: [...joinItems(page.items, items)] } });
      }),
  };
}

/** The older ones that are still on the path, then the newer ones. */
export function joinItems<Item extends { node_id: string }>(
  older: readonly Item[],
  newer: readonly Item[],
): readonly Item[] {
  const at = older.findIndex(({ node_id }) => node_id === newer[0]?.node_id);
  const known = new Set(newer.map(({ node_id }) => node_id));
  const before = at < 0 ? older : older.slice(0, at);
  return [...before.filter(({ node_id }) => !known.has(node_id)), ...newer];
}

type Runs = Pick<SessionModel, "runs">;

/** The agents of a session, in the order in which they began. */
export function listAgents(model: Runs): readonly { agent_id: string; name: string }[] {
  const names = new Map<string, string>();
  for (const { agent_id, role } of runsInOrder(model)) {
    const name = role === undefined ? agent_id : `${agent_id} (${role.replaceAll("_", " ")})`;
    if (!names.has(agent_id)) names.set(agent_id, name);
  }
  return Array.from(names, ([agent_id, name]) => ({ agent_id, name }));
}

/** Who the user talks with: of the last run they started in which a model was asked, else of the last one. */
export function mainAgent(model: Runs): string | undefined {
  const runs = runsInOrder(model).filter(({ parent_run_id }) => parent_run_id === undefined);
  const asked = runs.findLast(({ usage }) => (usage?.requests ?? 0) > 0);
  return (asked ?? runs.at(-1))?.agent_id;
}

/** Counts up with every fact of the agent's runs. */
export function findVersion({ runs }: Runs, agent_id: string | undefined): number {
  const own = [...runs.values()].filter((run) => run.agent_id === agent_id);
  return own.reduce((last, { last_seq }) => Math.max(last, last_seq), 0);
}
