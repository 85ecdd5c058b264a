// One message of a conversation.

import type { ConversationItem } from "../../wire/index.ts";
import { type ContentBlock, visible, visibleLine } from "@soong/core";
import { type SessionRoute, timelineHash } from "../route/hash-route.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";

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
    timelineHash({ session_id, run_id: item.run_id, tool_call_id });
  return (
    <article class={`message ${item.role} ${isOf(item.tool_call_id) ? "chosen" : ""}`}>
      <h3>
        {wordFor(item)}
        {item.tool_call_id !== undefined && (
          <a class="mono" href={to(item.tool_call_id)}>
            {visibleLine(nameOf(item.tool_call_id) ?? item.tool_call_id)}
          </a>
        )}
        {item.is_error === true && <span class="mark tone-bad"> ✕ error</span>}
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

/** Pictures and sounds are named; their content is shown with the call. */
export function blockText(block: ContentBlock): { text: string; is_code: boolean } {
  switch (block.type) {
    case "text":
      return { text: block.text, is_code: false };
    case "json":
      return { text: JSON.stringify(block.json, null, 2), is_code: true };
    case "image":
    case "audio":
      return named(block.type, block.media_type);
    case "resource":
      return "text" in block
        ? { text: `${block.uri}\n${block.text}`, is_code: true }
        : named("resource", block.uri);
    case "resource_link":
      return named("link", block.name ?? "", block.uri);
    case "artifact_ref":
      return named("artifact", block.name ?? block.artifact_id, `${block.size} bytes`);
    default:
      // Written by a later version.
      return { text: JSON.stringify(block), is_code: true };
  }
}

function named(...parts: readonly string[]): { text: string; is_code: boolean } {
  return { text: `[${parts.filter((part) => part !== "").join(" · ")}]`, is_code: false };
}
