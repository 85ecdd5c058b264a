// The units of a conversation, and the messages a request has of them. A unit is what the user said, or an answer with the
// results of all its calls. It is sent whole or not at all, so no call is ever without its result. What did not change since
// the last request is neither made nor copied again.

import type { ConversationNode } from "@soong/core";
import type { ModelCall, ModelMessage, ModelResult, UserMessage } from "../model/index.ts";
import type { AnswerParts } from "./nodes.ts";
import { MessageList } from "./request-digest.ts";

export type ContextUnit = UserUnit | AnswerUnit;

export interface UserUnit {
  /** `summary`: what a compaction left of everything before it. */
  readonly kind: "user" | "summary";
  readonly nodes: ConversationNode[];
  rendered: RenderedUnit | undefined;
}

export interface AnswerUnit {
  readonly kind: "answer";
  readonly answer: AnswerParts;
  readonly nodes: ConversationNode[];
  /** By the place of their call. */
  readonly results: (ConversationNode | undefined)[];
  /** What results, hooks and skills brought along; it is read after them. */
  readonly added: ConversationNode[];
  rendered: RenderedUnit | undefined;
}

/** For one model: what another has left for itself in an answer is not for this one. The first `count` units, or all. */
export function toModelMessages(
  units: readonly ContextUnit[],
  model: string,
  count = units.length,
): readonly ModelMessage[] {
  return snapshotMessages(units, model, { count }).toArray();
}

/**
 * The messages as they are now, however the conversation grows. A list of 16 000 messages is a large object, and one for each
 * request cost 200 µs a turn: the array is made when a model reads it.
 */
export class MessageSnapshot {
  /** For the record: it holds no array of its own. */
  readonly list: MessageList;
  readonly #tail: ModelMessage[];
  #all: readonly ModelMessage[] | undefined = undefined;

  constructor(closed: readonly ModelMessage[], count: number, tail: ModelMessage[]) {
    this.list = new MessageList(closed, count, tail);
    this.#tail = tail;
  }

  /** Before it is read. */
  addText(text: string): void {
    if (text !== "") addUser(this.#tail, toUserMessage(text));
  }

  toArray(): readonly ModelMessage[] {
    this.#all ??= this.list.toArray();
    return this.#all;
  }
}

/** Of all units but the last, by their list: only that one still grows, so a request adds what is new. */
const closedMessages = new WeakMap<
  readonly ContextUnit[],
  { readonly model: string; readonly messages: ModelMessage[]; units: number }
>();

/** `note`: what goes before them, where some were omitted. */
export function snapshotMessages(
  units: readonly ContextUnit[],
  model: string,
  { count = units.length, note }: { count?: number; note?: string | undefined } = {},
): MessageSnapshot {
  let closed = note === undefined ? closedMessages.get(units) : undefined;
  if (closed?.model !== model || closed.units >= count) {
    closed = { model, messages: note === undefined ? [] : [toUserMessage(note)], units: 0 };
    if (note === undefined) closedMessages.set(units, closed);
  }
  const { messages } = closed;
  for (; closed.units < count - 1; closed.units += 1) {
    addMessages(messages, units[closed.units], model);
  }
  // What comes next may be added to the last of them.
  const tail = messages.slice(-1);
  const before = messages.length - tail.length;
  addMessages(tail, units[count - 1], model);
  // Before its last message the list is only appended to: the first ones are those of this request.
  return new MessageSnapshot(messages, before, tail);
}

function addMessages(messages: ModelMessage[], unit: ContextUnit | undefined, model: string): void {
  if (unit === undefined) return;
  for (const message of renderUnit(unit, model).messages) {
    if (message.role === "user") addUser(messages, message);
    else messages.push(message);
  }
}

/** The messages of one unit. They are the same objects as long as it does not grow. */
export interface RenderedUnit {
  readonly model: string;
  readonly nodes: number;
  readonly messages: readonly ModelMessage[];
  /** -1: not counted yet. */
  tokens: number;
}

export function renderUnit(unit: ContextUnit, reader: string): RenderedUnit {
  const isOwn = unit.kind === "answer" && unit.answer.provider_data !== undefined;
  const model = isOwn ? reader : "";
  const nodes = unit.nodes.length;
  const known = unit.rendered;
  if (known?.model === model && known.nodes === nodes) return known;
  unit.rendered = { model, nodes, messages: toUnitMessages(unit, model), tokens: -1 };
  return unit.rendered;
}

function toUnitMessages(unit: ContextUnit, model: string): readonly ModelMessage[] {
  const said = unit.kind === "answer" ? unit.added : unit.nodes;
  const content = said.flatMap((node) => (node.kind === "instruction_context" ? [] : node.content));
  const after: readonly ModelMessage[] = content.length === 0 ? [] : [{ role: "user", content }];
  if (unit.kind !== "answer") return after;
  const { text, calls, provider_data: extra, model: by } = unit.answer;
  const own = extra !== undefined && by === model ? { provider_data: extra } : {};
  // A message with nothing in it is refused by providers.
  if (text === "" && calls.length === 0) return after;
  const answer: ModelMessage = { role: "assistant", text, calls, ...own };
  if (calls.length === 0) return [answer, ...after];
  const results = calls.map((call, i) => toModelResult(call, unit.results[i]));
  return [answer, { role: "tool", results }, ...after];
}

/** Side by side they are one message: not every provider takes two in a row. */
function addUser(messages: ModelMessage[], message: UserMessage): void {
  if (message.content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== "user") messages.push(message);
  else {
    messages.pop();
    messages.push({ role: "user", content: [...last.content, ...message.content] });
  }
}

function toUserMessage(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

/** A call that never got to its first fact has no result on record; its provider needs one all the same. */
function toModelResult(
  { tool_call_id, name }: ModelCall,
  node: ConversationNode | undefined,
): ModelResult {
  if (node !== undefined) {
    return { tool_call_id, name, content: node.content, is_error: node.is_error === true };
  }
  const text = `${name} was not started: the run was stopped before it. Nothing happened.`;
  return { tool_call_id, name, content: [{ type: "text", text }], is_error: true };
}
