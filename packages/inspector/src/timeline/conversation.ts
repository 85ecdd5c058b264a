// A conversation as the page shows it: who said what, oldest first, in pages, with what is long cut.

import type { ContentBlock, ConversationNode, NodeKind } from "@soong/core";
import { asRecord, firstChars, isPlainRecord, omitUndefined } from "@soong/schema";
import type { Conversation, ConversationItem } from "../wire/session-records.ts";
import { asText, listIn, summarizeArguments, textIn, type Data } from "./read-data.ts";

const MOST_ITEMS = 100;
/** Of older ones, which are asked for one page after the other. */
const MOST_OLDER = 250;
/** Of one item: characters of text, and of pictures and sounds as base64. */
const MOST_TEXT_CHARS = 20_000;
const MOST_MEDIA_CHARS = 1_000_000;
/** Of one that was requested alone. */
const MOST_WHOLE_CHARS = 4_000_000;
const MOST_REASONING_CHARS = 20_000;

/** `before`, `after`: a node that the page has already; one that is not on the path is passed over. */
interface Wanted {
  readonly agent_id: string;
  readonly before?: string;
  readonly after?: string;
}

/** `path`: from the root on. */
export function conversation(
  path: readonly ConversationNode[],
  { agent_id, before, after }: Wanted,
): Conversation {
  const placeOf = (wanted: string | undefined) =>
    wanted === undefined ? -1 : path.findLastIndex(({ node_id }) => node_id === wanted);
  const last = placeOf(after);
  if (last !== -1 && path.length - last - 1 <= MOST_ITEMS) {
    const items = path.slice(last + 1).map((node) => readItem(node, MOST_TEXT_CHARS));
    return { agent_id, items, older: last + 1, is_continued: true };
  }
  const place = placeOf(before);
  const end = place === -1 ? path.length : place;
  const older = Math.max(0, end - (place === -1 ? MOST_ITEMS : MOST_OLDER));
  const items = path.slice(older, end).map((node) => readItem(node, MOST_TEXT_CHARS));
  return { agent_id, items, older };
}

/** One message, with as much of it as a page can hold. */
export function wholeItem(node: ConversationNode): ConversationItem {
  return readItem(node, MOST_WHOLE_CHARS);
}

function readItem(node: ConversationNode, mostChars: number): ConversationItem {
  const { node_id, run_id, kind, tool_call_id, is_error } = node;
  const data = asRecord(node.data);
  const calls = listIn(data, "calls").flatMap((given) => {
    const call = asRecord(given);
    const tool_name = textIn(call, "name");
    if (tool_name === undefined) return [];
    const summary = summarizeArguments(call["arguments"]);
    return [omitUndefined({ tool_call_id: textIn(call, "tool_call_id"), tool_name, summary })];
  });
  const blocks = Array.isArray(node.content) ? node.content : [];
  const { content, cut } = shortenBlocks(blocks, mostChars);
  const more = omitUndefined({
    is_first: node.parent_id === undefined ? true : undefined,
    model: textIn(data, "model"),
    is_unfinished: data["unfinished"] === true ? true : undefined,
    reasoning: readReasoning(data["provider_data"]),
  });
  return {
    node_id,
    run_id,
    kind,
    role: readRole(kind, data),
    tool_call_id,
    is_error,
    ...more,
    ...(calls.length === 0 ? {} : { calls }),
    content,
    ...(cut === 0 ? {} : { cut }),
  };
}

function readRole(kind: NodeKind, data: Data): ConversationItem["role"] {
  if (kind === "message") return data["role"] === "assistant" ? "assistant" : "user";
  return kind === "tool_result" || kind === "child_result" ? "tool" : "context";
}

/** What a provider wants to see again of its own answer may hold what the model thought, as text. */
function readReasoning(given: unknown): string | undefined {
  const texts: string[] = [];
  const look = (value: unknown, depth: number): void => {
    if (depth > 4) return;
    if (Array.isArray(value)) for (const one of value) look(one, depth + 1);
    else if (isPlainRecord(value)) {
      const text = value["type"] === "reasoning" ? textIn(value, "text") : undefined;
      if (text === undefined) for (const one of Object.values(value)) look(one, depth + 1);
      else texts.push(text);
    }
  };
  look(given, 0);
  return firstChars(texts.join("\n\n"), MOST_REASONING_CHARS) || undefined;
}

function shortenBlocks(
  blocks: readonly unknown[],
  mostChars: number,
): { content: ContentBlock[]; cut: number } {
  const content: ContentBlock[] = [];
  let left = mostChars;
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
