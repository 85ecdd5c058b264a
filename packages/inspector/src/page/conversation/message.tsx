// One message of a conversation.

import type { ConversationItem } from "../../wire/index.ts";
import { visible, visibleLine } from "@soong/core";
import { hashOf } from "../route/hash-route.ts";
import type { SessionRoute } from "../route/hash-route.ts";
import { callKey } from "../state/session-model.ts";
import type { SessionModel } from "../state/session-model.ts";
import { blockText } from "./block-text.ts";

export function Message(props: {
  item: ConversationItem;
  session_id: string;
  chosen: SessionRoute;
  lanes: SessionModel["lanes"];
}) {
  const { item, session_id, chosen, lanes } = props;
  const isOf = (tool_call_id: string | undefined) =>
    tool_call_id !== undefined &&
    tool_call_id === chosen.tool_call_id &&
    item.run_id === chosen.run_id;
  // The model may know a tool by another name than we do.
  const nameOf = (tool_call_id: string) => lanes.get(callKey(item.run_id, tool_call_id))?.tool_name;
  const to = (tool_call_id: string) =>
    hashOf({ view: "session", session_id, tab: "timeline", run_id: item.run_id, tool_call_id });
  return (
    <article class={`message ${item.role} ${isOf(item.tool_call_id) ? "chosen" : ""}`}>
      <h3>
        {wordFor(item)}
        {item.tool_call_id !== undefined && (
          <a class="mono" href={to(item.tool_call_id)}>
            {visibleLine(nameOf(item.tool_call_id) ?? item.tool_call_id)}
          </a>
        )}
        {item.is_error === true && <span class="mark bad"> ✕ error</span>}
      </h3>
      {item.content.map((block, index) => {
        const { text, is_code } = blockText(block);
        return (
          <div key={index} class={is_code || item.role === "tool" ? "block mono" : "block"}>
            {visible(text)}
          </div>
        );
      })}
      {item.cut !== undefined && item.cut > 0 && (
        <p class="quiet">… {item.cut.toLocaleString("en")} characters more</p>
      )}
      {item.calls !== undefined && item.calls.length > 0 && (
        <ul class="calls">
          {item.calls.map(({ tool_call_id, tool_name }, index) => (
            <li key={index}>
              {tool_call_id === undefined ? (
                <span class="chip">{visibleLine(tool_name)}</span>
              ) : (
                <a class={isOf(tool_call_id) ? "chip chosen" : "chip"} href={to(tool_call_id)}>
                  {visibleLine(nameOf(tool_call_id) ?? tool_name)}
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function wordFor({ role, kind }: ConversationItem): string {
  if (kind === "tool_result") return "Result ";
  if (kind === "message") return role === "user" ? "Person" : "Model";
  return kind.replaceAll("_", " ");
}
