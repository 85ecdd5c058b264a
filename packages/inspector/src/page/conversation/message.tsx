// One message of a conversation.

import { type ContentBlock, visible, visibleLine } from "@soong/core";
import type { ConversationItem } from "../../wire/session-records.ts";
import { countText } from "../parts/text.tsx";
import { type SessionRoute, linkToTimeline } from "../route/hash-route.ts";
import { callKey, type SessionModel } from "../state/session-model.ts";

export function Message(props: {
  item: ConversationItem;
  session_id: string;
  chosen: SessionRoute;
  lanes: SessionModel["lanes"];
}) {
  const { item, session_id, chosen, lanes } = props;
  const { run_id, tool_call_id, role, calls = [], cut = 0 } = item;
  const isChosen = (id: string | undefined) =>
    id !== undefined && id === chosen.tool_call_id && run_id === chosen.run_id;
  const link = (id: string, name: string, look: string) => (
    <a class={look} href={linkToTimeline({ session_id, run_id, tool_call_id: id })}>
      {/* The model may know a tool by another name than we do. */}
      {visibleLine(lanes.get(callKey(run_id, id))?.tool_name ?? name)}
    </a>
  );
  const isThis = isChosen(tool_call_id) || item.node_id === chosen.node_id;
  return (
    <article class={`message ${role} ${isThis ? "chosen" : ""}`}>
      <h2>
        {wordFor(item)}
        {tool_call_id !== undefined && link(tool_call_id, tool_call_id, "mono")}
        {item.is_error === true && <span class="problem"> ✕ error</span>}
      </h2>
      {item.content.map((block, index) => {
        const { text, is_code } = blockText(block);
        return (
          // A result has a height of its own, so a keyboard has to be able to scroll it.
          <div
            key={index}
            class={is_code || role === "tool" ? "block mono" : "block"}
            tabIndex={role === "tool" ? 0 : undefined}
          >
            {visible(text)}
          </div>
        );
      })}
      {cut > 0 && <p class="quiet">… {countText(cut)} characters more</p>}
      {calls.length > 0 && (
        <ul class="calls">
          {calls.map(({ tool_call_id: id, tool_name }, index) => (
            <li key={index}>
              {id === undefined ? (
                <span class="chip">{visibleLine(tool_name)}</span>
              ) : (
                link(id, tool_name, isChosen(id) ? "chip chosen" : "chip")
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
  if (kind === "message") return role === "user" ? "User" : "Model";
  return kind.replaceAll("_", " ");
}

/** Pictures and sounds are named; their content is shown with the call. */
function blockText(block: ContentBlock): { text: string; is_code?: boolean } {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "json":
      return { text: JSON.stringify(block.json, null, 2), is_code: true };
    case "image":
    case "audio":
      return nameBlock(block.type, block.media_type);
    case "resource":
      return "text" in block
        ? { text: `${block.uri}\n${block.text}`, is_code: true }
        : nameBlock("resource", block.uri);
    case "resource_link":
      return nameBlock("link", block.name, block.uri);
    case "artifact_ref":
      return nameBlock("artifact", block.name ?? block.artifact_id, `${block.size} bytes`);
    default:
      // Written by a later version.
      return { text: JSON.stringify(block), is_code: true };
  }
}

function nameBlock(...parts: readonly (string | undefined)[]) {
  return { text: `[${parts.filter(Boolean).join(" · ")}]` };
}
