// The conversation of an agent beside the timeline: what the model reads. Each call leads to its lane, and the call that
// was chosen is shown here.

import { visibleLine } from "@soong/core";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ConversationItem } from "../../wire/session-records.ts";
import { useInspector } from "../app/inspector.ts";
import { Select } from "../parts/input.tsx";
import type { SessionRoute } from "../route/hash-route.ts";
import type { SessionModel } from "../state/session-model.ts";
import { findVersion, listAgents, mainAgent } from "./agents.ts";
import { MessageList } from "./message-list.tsx";
import { useConversation } from "./use-conversation.ts";

export function ConversationPane(props: {
  route: SessionRoute;
  model: SessionModel;
  /** For the prompts of the main agent. */
  onEdit?: ((item: ConversationItem) => void) | undefined;
  /** The model that answered last. */
  onLastModel?: (model: string) => void;
}) {
  const { route, model, onEdit, onLastModel } = props;
  const { run_id, tool_call_id, node_id } = route;
  const { announce } = useInspector();
  const agents = listAgents(model);
  const [asked, setAsked] = useState<string>();
  const chosen = run_id === undefined ? undefined : model.runs.get(run_id)?.agent_id;
  const main = mainAgent(model);
  const agent_id = asked ?? chosen ?? main ?? agents[0]?.agent_id;
  const conversation = useConversation(model.session_id, agent_id, findVersion(model, agent_id));
  const box = useRef<HTMLDivElement>(null);

  const { items, older } = conversation;
  useEffect(() => setAsked(undefined), [run_id, tool_call_id, node_id]);
  const lastModel = items.findLast((item) => item.model !== undefined)?.model;
  useEffect(() => {
    if (lastModel !== undefined) onLastModel?.(lastModel);
  }, [lastModel]);
  const isChosen = tool_call_id !== undefined || node_id !== undefined;
  const isChosenHere = items.some((item) =>
    node_id === undefined
      ? item.run_id === run_id && item.calls?.some((call) => call.tool_call_id === tool_call_id)
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
      {node_id !== undefined && !conversation.isLoading && older === 0 && !isChosenHere && (
        <p class="quiet">
          The message that was searched for is in a branch that this conversation left.
        </p>
      )}
      <MessageList
        key={agent_id}
        conversation={conversation}
        model={model}
        route={route}
        agent_id={agent_id}
        onEdit={agent_id === main ? onEdit : undefined}
      />
    </div>
  );
}
