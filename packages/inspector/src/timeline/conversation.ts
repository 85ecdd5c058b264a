// A conversation as the page shows it: who said what, oldest first, in pages, with what is long cut.

import type { ContentBlock, ConversationNode, NodeKind } from "@soong/core";
import { asRecord, firstChars } from "@soong/schema";
import type { Conversation, ConversationItem } from "../wire/session-records.ts";
import { asText, listIn, textIn, type Data } from "./read-data.ts";

const MOST_ITEMS = 100;
/** Of one item: characters of text, and of pictures and sounds as base64. */
const MOST_TEXT_CHARS = 20_000;
const MOST_MEDIA_CHARS = 1_000_000;

/** `path`: from the root on. `before`: the node that the page has already; one that is not there is passed over. */
export function conversation(
  path: readonly ConversationNode[],
  { agent_id, before }: { readonly agent_id: string; readonly before?: string },
): Conversation {
  const place = before === undefined ? -1 : path.findIndex(({ node_id }) => node_id === before);
  const end = place === -1 ? path.length : place;
  const older = Math.max(0, end - MOST_ITEMS);
  return { agent_id, items: path.slice(older, end).map(readItem), older };
}

function readItem(node: ConversationNode): ConversationItem {
  const { node_id, run_id, kind, tool_call_id, is_error } = node;
  const data = asRecord(node.data);
  const calls = listIn(data, "calls").flatMap((given) => {
    const call = asRecord(given);
    const tool_name = textIn(call, "name");
    return tool_name === undefined
      ? []
      : [{ tool_call_id: textIn(call, "tool_call_id"), tool_name }];
  });
  const { content, cut } = shortenBlocks(Array.isArray(node.content) ? node.content : []);
  return {
    node_id,
    run_id,
    kind,
    role: readRole(kind, data),
    tool_call_id,
    is_error,
    ...(calls.length === 0 ? {} : { calls }),
    content,
    ...(cut === 0 ? {} : { cut }),
  };
}

function readRole(kind: NodeKind, data: Data): ConversationItem["role"] {
  if (kind === "message") return data["role"] === "assistant" ? "assistant" : "user";
  return kind === "tool_result" || kind === "child_result" ? "tool" : "context";
}

function shortenBlocks(blocks: readonly unknown[]): { content: ContentBlock[]; cut: number } {
  const content: ContentBlock[] = [];
  let left = MOST_TEXT_CHARS;
  let media = MOST_MEDIA_CHARS;
  let cut = 0;
  const shorten = (text: string): string => {
    const kept = firstChars(text, left);
    cut += text.length - kept.length;
    left -= kept.length;
    return kept;
  };
  for (const given of blocks) {
    const block = asRecord(given);
    const held = textIn(block, "data") ?? textIn(block, "blob");
    if (textIn(block, "type") === undefined) continue;
    if (held !== undefined) {
      media -= held.length;
      content.push(media >= 0 ? (given as ContentBlock) : instead(block, held));
    } else if (typeof block["text"] === "string") {
      content.push({ ...block, text: shorten(block["text"]) } as ContentBlock);
    } else {
      // JSON and references: whole, or as the beginning of their text.
      const whole = asText(block["json"]);
      const text = shorten(whole);
      content.push(text === whole ? (given as ContentBlock) : { type: "text", text });
    }
  }
  return { content, cut };
}

function instead(block: Data, held: string): ContentBlock {
  const what = textIn(block, "media_type") ?? textIn(block, "type") ?? "data";
  return {
    type: "text",
    text: `(${what}, ${held.length} characters as base64, is not shown here)`,
  };
}
