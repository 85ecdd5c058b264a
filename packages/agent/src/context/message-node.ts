// Messages as nodes of the conversation and back. A node holds all a request needs of its message, so that a
// live run, a resumed one and a replay read the same text (REDACT-1).

import type { ContentBlock, ConversationNode, JsonObject, FactData } from "@soong/core";
import { isJsonObject, omitUndefined, isLowSurrogate } from "@soong/schema";
import type { ModelCall } from "../model/index.ts";

/** Where a node is of and hangs. */
export interface NodePlace {
  readonly node_id: string;
  readonly parent_id: string | undefined;
  readonly session_id: string;
  readonly run_id: string;
  readonly agent_id: string;
}

export interface AnswerParts {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** It broke off, so that it ends nothing that was asked. */
  readonly unfinished?: true;
  readonly provider_data?: JsonObject;
}

export function userNode(place: NodePlace, content: readonly ContentBlock[]): ConversationNode {
  return { ...toNodeFields(place), kind: "message", content: [...content], data: { role: "user" } };
}

export function answerNode(place: NodePlace, answer: AnswerParts): ConversationNode {
  const { model, text, calls, unfinished, provider_data } = answer;
  return {
    ...toNodeFields(place),
    kind: "message",
    content: text === "" ? [] : [{ type: "text", text }],
    data: {
      role: "assistant",
      model,
      calls: calls.map((call) => ({ ...call })),
      ...omitUndefined({ unfinished, provider_data }),
    },
  };
}

/** What a hook adds outside any call. */
export function hookNode(place: NodePlace, text: string): ConversationNode {
  return { ...toNodeFields(place), kind: "hook_context", content: [{ type: "text", text }] };
}

export type ReadMessage =
  | { readonly role: "user" }
  | ({ readonly role: "assistant" } & AnswerParts);

/** Undefined for a node that is no message, or none of ours. */
export function readMessage(node: ConversationNode): ReadMessage | undefined {
  if (node.kind !== "message") return undefined;
  if (!known.has(node)) known.set(node, parseMessage(node));
  return known.get(node);
}

/** A node never changes, and each is read again for every request. */
const known = new WeakMap<ConversationNode, ReadMessage | undefined>();

function parseMessage(node: ConversationNode): ReadMessage | undefined {
  const { role, model, calls, unfinished, provider_data } = node.data ?? {};
  if (role === "user") return { role };
  if (role !== "assistant") return undefined;
  return {
    role,
    model: typeof model === "string" ? model : "",
    text: messageText(node.content),
    calls: Array.isArray(calls) ? calls.flatMap(readCall) : [],
    ...(unfinished === true ? { unfinished } : {}),
    ...(isJsonObject(provider_data) ? { provider_data } : {}),
  };
}

export function messageText(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function readCall(given: unknown): ModelCall[] {
  if (!isJsonObject(given)) return [];
  const { tool_call_id, name, arguments: text } = given;
  const isCall =
    typeof tool_call_id === "string" && typeof name === "string" && typeof text === "string";
  return isCall ? [{ tool_call_id, name, arguments: text }] : [];
}

function toNodeFields({
  parent_id,
  ...place
}: NodePlace): Omit<ConversationNode, "kind" | "content"> {
  return { ...place, ...omitUndefined({ parent_id }) };
}

/** `data`: of its `tool.requested`. */
export function isInnerCall({ within_tool_call_id, made_by }: FactData<"tool.requested">): boolean {
  return within_tool_call_id !== undefined || made_by === "runtime";
}

export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = wholeEnd(text, Math.ceil(maxChars / 2));
  const tail = wholeStart(text, text.length - Math.floor(maxChars / 2));
  return `${text.slice(0, head)}\n[… ${tail - head} characters omitted …]\n${text.slice(tail)}`;
}

/** Never between the two halves of one character. */
function wholeEnd(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at;
}

function wholeStart(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at;
}
