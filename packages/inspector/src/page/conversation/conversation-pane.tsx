// The conversation of an agent beside the timeline: what the model reads. Each call leads to its lane, and the call that
// was chosen is shown here.

import { LinkButton } from "../parts/button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { useInspector } from "../app/context.ts";
import { LoadState, ProblemText } from "../parts/loading.tsx";
import { visibleLine } from "@soong/core";
import type { SessionRoute } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";
import { agentsOf, mainAgent, versionOf } from "./agents.ts";
import { Message } from "./message.tsx";
import { useConversation } from "./use-conversation.ts";

export function ConversationPane(props: { route: SessionRoute; model: SessionModel }) {
  const { route, model } = props;
  const { announce } = useInspector();
  const agents = agentsOf(model);
  const [asked, setAsked] = useState<string>();
  const chosen = route.run_id === undefined ? undefined : model.runs.get(route.run_id)?.agent_id;
  const agent_id = asked ?? chosen ?? mainAgent(model) ?? agents[0]?.agent_id;
  const conversation = useConversation(model.session_id, agent_id, versionOf(model, agent_id));
  const items = conversation.items;
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => setAsked(undefined), [route.run_id, route.tool_call_id]);
  useStickToEnd(box, items.length, route.tool_call_id !== undefined);
  const isChosenHere = items.some(
    (item) => item.tool_call_id === route.tool_call_id && item.run_id === route.run_id,
  );
  useEffect(() => {
    if (route.tool_call_id === undefined) return;
    box.current?.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }, [route.run_id, route.tool_call_id, isChosenHere]);

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
          <select
            value={agent_id}
            onChange={(event) => {
              setAsked(event.currentTarget.value);
              announce(`Conversation of ${event.currentTarget.value}`);
            }}
          >
            {agents.map(({ agent_id, name }) => (
              <option key={agent_id} value={agent_id}>
                {visibleLine(name)}
              </option>
            ))}
          </select>
        </label>
      )}
      <LoadState loaded={conversation.loaded} what="the conversation" />
      {conversation.older > 0 && (
        <LinkButton onClick={conversation.loadOlder}>
          Show older messages ({conversation.older.toLocaleString("en")})
        </LinkButton>
      )}
      {conversation.problem !== undefined && <ProblemText text={conversation.problem} />}
      {items.map((item) => (
        <Message
          key={item.node_id}
          item={item}
          session_id={model.session_id}
          chosen={route}
          lanes={model.lanes}
        />
      ))}
      {conversation.loaded.value !== undefined && items.length === 0 && (
        <p class="quiet">No messages yet.</p>
      )}
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
    if (scroller === null || scroller === undefined) return;
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
