// A path of the conversation as units a request is made of (CTX-3): what the user said, or an answer with
// the results of all its calls. A unit is sent whole or not at all, so no call is ever without its result.

import type { ContentBlock, ConversationNode, CallIds, Run } from "@soong/core";
import type { ModelCall, ModelMessage, ModelResult } from "../model/index.ts";
import { readCompaction } from "./compaction-node.ts";
import { readMessage, type AnswerParts } from "./message-node.ts";

export type ContextUnit = UserUnit | AnswerUnit;

export interface UserUnit {
  /** `summary`: what a compaction left of everything before it. */
  readonly kind: "user" | "summary";
  readonly nodes: ConversationNode[];
}

export interface AnswerUnit {
  readonly kind: "answer";
  readonly answer: AnswerParts;
  readonly nodes: ConversationNode[];
  readonly results: Map<string, ConversationNode>;
  /** What results, hooks and skills brought along; it is read after them. */
  readonly added: ConversationNode[];
}

export interface ReadPath {
  readonly units: readonly ContextUnit[];
  /** Results whose call is not on the path: no provider takes them. */
  readonly orphans: readonly ConversationNode[];
}

/** `path`: root first. */
export function readPath(path: readonly ConversationNode[]): ReadPath {
  const units: ContextUnit[] = [];
  const orphans: ConversationNode[] = [];
  for (const node of afterCompaction(path)) {
    const last = units.at(-1);
    const message = readMessage(node);
    if (message?.role === "user") units.push({ kind: "user", nodes: [node] });
    else if (message?.role === "assistant") units.push(answerUnit(node, message));
    else if (node.kind === "compaction") units.push({ kind: "summary", nodes: [node] });
    else if (node.kind === "instruction_context") last?.nodes.push(node);
    else if (node.kind === "tool_result") {
      if (!attachResult(last, node)) orphans.push(node);
    } else if (last?.kind === "answer") {
      last.nodes.push(node);
      last.added.push(node);
    } else if (last !== undefined) last.nodes.push(node);
    else units.push({ kind: "user", nodes: [node] });
  }
  return { units, orphans };
}

/** For one model: what another has left for itself in an answer is not for this one. */
export function toModelMessages(units: readonly ContextUnit[], model: string): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const unit of units) {
    for (const message of toUnitMessages(unit, model)) {
      const follows = messages.at(-1)?.role === "user";
      if (message.role === "user" && follows) addUser(messages, message.content);
      else messages.push(message);
    }
  }
  return messages;
}

/** The same objects as long as the unit is the same, so that a message is measured once. */
function toUnitMessages(unit: ContextUnit, model: string): readonly ModelMessage[] {
  const [first] = unit.nodes;
  const last = first === undefined ? undefined : unitMessages.get(first);
  const isSame =
    last?.model === model &&
    last.nodes.length === unit.nodes.length &&
    last.nodes.every((node, i) => node === unit.nodes[i]);
  if (isSame) return last.messages;
  const messages: ModelMessage[] = [];
  if (unit.kind === "answer") addAnswer(messages, unit, model);
  else addUser(messages, collectContent(unit.nodes));
  if (first !== undefined) unitMessages.set(first, { model, nodes: [...unit.nodes], messages });
  return messages;
}

/** By the first node of a unit. */
const unitMessages = new WeakMap<
  ConversationNode,
  {
    readonly model: string;
    readonly nodes: readonly ConversationNode[];
    readonly messages: readonly ModelMessage[];
  }
>();

function addAnswer(messages: ModelMessage[], unit: AnswerUnit, model: string): void {
  const { text, calls, provider_data: extra, model: by } = unit.answer;
  // A message with nothing in it is refused by providers.
  if (text !== "" || calls.length > 0) {
    const own = extra !== undefined && by === model ? { provider_data: extra } : {};
    messages.push({ role: "assistant", text, calls, ...own });
  }
  if (calls.length > 0) {
    messages.push({ role: "tool", results: calls.map((call) => toModelResult(unit, call)) });
  }
  addUser(messages, collectContent(unit.added));
}

/** Side by side they are one message: not every provider takes two in a row. */
export function addUser(messages: ModelMessage[], content: readonly ContentBlock[]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === "user") {
    messages[messages.length - 1] = { role: "user", content: [...last.content, ...content] };
  } else messages.push({ role: "user", content });
}

/** The last compaction replaces all before it, but for the units it kept. */
function afterCompaction(path: readonly ConversationNode[]): readonly ConversationNode[] {
  const at = path.findLastIndex((node) => readCompaction(node) !== undefined);
  const node = path[at];
  if (node === undefined) return path;
  const keptFrom = path.findIndex(({ node_id }) => node_id === readCompaction(node)?.kept_from);
  const kept = keptFrom === -1 || keptFrom > at ? [] : path.slice(keptFrom, at);
  return [node, ...kept.filter(({ kind }) => kind !== "compaction"), ...path.slice(at + 1)];
}

function answerUnit(node: ConversationNode, answer: AnswerParts): AnswerUnit {
  // Ids may come back within one answer only from a damaged record; the first one counts.
  const calls = [...new Map(answer.calls.toReversed().map((call) => [call.tool_call_id, call]))]
    .toReversed()
    .map(([, call]) => call);
  return {
    kind: "answer",
    answer: { ...answer, calls },
    nodes: [node],
    results: new Map(),
    added: [],
  };
}

function attachResult(unit: ContextUnit | undefined, node: ConversationNode): boolean {
  const id = node.tool_call_id;
  if (unit?.kind !== "answer" || id === undefined || unit.results.has(id)) return false;
  if (!unit.answer.calls.some(({ tool_call_id }) => tool_call_id === id)) return false;
  unit.results.set(id, node);
  unit.nodes.push(node);
  return true;
}

/** A call that never got to its first fact has no result on record; its provider needs one all the same. */
function toModelResult(unit: AnswerUnit, { tool_call_id, name }: ModelCall): ModelResult {
  const node = unit.results.get(tool_call_id);
  if (node !== undefined) {
    return { tool_call_id, name, content: node.content, is_error: node.is_error === true };
  }
  const text = `${name} was not started: the run was stopped before it. Nothing happened.`;
  return { tool_call_id, name, content: [{ type: "text", text }], is_error: true };
}

function collectContent(nodes: readonly ConversationNode[]): ContentBlock[] {
  return nodes.flatMap((node) => (node.kind === "instruction_context" ? [] : node.content));
}

/** The run behind a call of a skill or memory tool. A call that no conversation made has none. */
export interface CallingRun {
  readonly run: Pick<Run, "surface" | "recorder" | "openTurn">;
  /** The conversation as it is now, root first. */
  path(): readonly ConversationNode[];
}

/** Such as `activeRuns.find` of `createAgents`. */
export type FindRun = (ids: CallIds) => CallingRun | undefined;

/** What the next request can hold of a conversation: a compaction replaces all before it. */
export function listNodesInView(path: readonly ConversationNode[]): readonly ConversationNode[] {
  return readPath(path).units.flatMap(({ nodes }) => nodes);
}
