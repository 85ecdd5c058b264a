// The conversation as requests read it (CTX-3), kept as it grows: units, what they refer to and how many tokens they are.

import type { CallIds, ContentBlock, ConversationNode, ModelTool, Run } from "@soong/core";
import { isMediaBlock } from "@soong/core/internal";
import type { ModelMessage } from "../model/index.ts";
import { renderUnit, type AnswerUnit, type ContextUnit, type UserUnit } from "./messages.ts";
import { cutMiddle, messageText, readCompaction, readMessage, type AnswerParts } from "./nodes.ts";

/** Adding a node costs the same however long the conversation is. A compaction begins anew, with what it kept. */
export class ContextBook {
  /** Root first. */
  readonly path: ConversationNode[] = [];
  units: ContextUnit[] = [];
  /** Results whose call is not on the path: no provider takes them. */
  orphans: ConversationNode[] = [];
  readonly instructions: ConversationNode[] = [];
  references = new References();
  /** Of all units but the last, which still grows. */
  #tokensBefore = 0;

  constructor(path: readonly ConversationNode[] = []) {
    for (const node of path) this.add(node);
  }

  add(...nodes: readonly ConversationNode[]): void {
    for (const node of nodes) {
      this.path.push(node);
      if (node.kind === "instruction_context") this.instructions.push(node);
      if (node.kind === "compaction") this.#restart(node);
      else this.#read(node);
    }
  }

  get tokens(): number {
    const last = this.units.at(-1);
    return this.#tokensBefore + (last === undefined ? 0 : estimateUnitTokens(last));
  }

  /** It replaces all before it, but for the units it kept. */
  #restart(compaction: ConversationNode): void {
    const { kept_from } = readCompaction(compaction) ?? {};
    const at = this.path.length - 1;
    const keptFrom = this.path.findIndex(({ node_id }) => node_id === kept_from);
    const kept = keptFrom === -1 ? [] : this.path.slice(keptFrom, at);
    this.units = [];
    this.orphans = [];
    this.references = new References();
    this.#tokensBefore = 0;
    this.#begin(createUserUnit("summary", compaction));
    for (const node of kept) if (node.kind !== "compaction") this.#read(node);
  }

  #read(node: ConversationNode): void {
    const last = this.units.at(-1);
    const message = readMessage(node);
    if (message?.role === "assistant") return this.#begin(createAnswerUnit(node, message));
    const isOther = message === undefined && last !== undefined;
    if (node.kind === "tool_result") {
      if (!attachResult(last, node)) return void this.orphans.push(node);
    } else if (isOther) {
      last.nodes.push(node);
      if (last.kind === "answer" && node.kind !== "instruction_context") last.added.push(node);
    } else {
      // Instructions are system text: what they come with has not begun yet.
      if (node.kind === "instruction_context") return;
      return this.#begin(createUserUnit("user", node));
    }
    this.references.add(node);
  }

  #begin(unit: ContextUnit): void {
    this.#tokensBefore = this.tokens;
    this.units.push(unit);
    for (const node of unit.nodes) this.references.add(node);
  }
}

/** What the nodes of a request refer to. Each thing once, with the first node that has it. */
export class References {
  nodes = 0;
  readonly memory: object[] = [];
  readonly skill: object[] = [];
  readonly agent: object[] = [];
  /** Links that are no files. */
  readonly source: object[] = [];
  /** Files that were read by calls or came along with a prompt, and what was put aside; not what a result only names. */
  readonly file: object[] = [];
  readonly #known = new Set<string>();

  add({ kind, node_id, content, data = {} }: ConversationNode): void {
    this.nodes += 1;
    // With what the node says it is: which skill, which memories, by their hashes.
    if (kind === "memory_context") this.memory.push({ node_id, ...data });
    else if (kind === "skill_context") this.skill.push({ node_id, ...data });
    else if (kind === "child_result") {
      // Whose result entered the conversation there; its own run has the rest.
      const { agent_id, run_id, status } = data;
      this.agent.push({ node_id, agent_id, run_id, status });
    }
    const { files_read } = data;
    if (kind === "tool_result" && Array.isArray(files_read)) {
      for (const path of files_read) this.#addOnce(this.file, { kind: "file", path }, node_id);
    }
    for (const block of content) {
      if (block.type === "artifact_ref") {
        const { artifact_id } = block;
        this.#addOnce(this.file, { kind: "artifact", artifact_id }, node_id);
      } else if (block.type === "resource_link") {
        const { uri } = block;
        if (!/^file:/i.test(uri)) this.#addOnce(this.source, { uri }, node_id);
        else if (kind === "message") this.#addOnce(this.file, { kind: "file", uri }, node_id);
      }
    }
  }

  #addOnce(refs: object[], ref: object, node_id: string): void {
    const key = JSON.stringify(ref);
    if (this.#known.has(key)) return;
    this.#known.add(key);
    refs.push({ ...ref, node_id });
  }
}

function createUserUnit(kind: UserUnit["kind"], node: ConversationNode): UserUnit {
  return { kind, nodes: [node], rendered: undefined };
}

function createAnswerUnit(node: ConversationNode, answer: AnswerParts): AnswerUnit {
  // Ids may come back within one answer only from a damaged record; the first one counts.
  const seen = new Set<string>();
  const calls = answer.calls.filter(({ tool_call_id: id }) => !seen.has(id) && seen.add(id));
  const parts = calls.length === answer.calls.length ? answer : { ...answer, calls };
  const results = calls.map(() => undefined);
  return { kind: "answer", answer: parts, nodes: [node], results, added: [], rendered: undefined };
}

function attachResult(unit: ContextUnit | undefined, node: ConversationNode): boolean {
  const id = node.tool_call_id;
  if (unit?.kind !== "answer" || id === undefined) return false;
  const { calls } = unit.answer;
  // Results are on the path in the order of their calls, so this is nearly always the one.
  let at = unit.nodes.length - 1 - unit.added.length;
  if (calls[at]?.tool_call_id !== id) {
    at = calls.findIndex(({ tool_call_id }) => tool_call_id === id);
  }
  if (at === -1 || unit.results[at] !== undefined) return false;
  unit.results[at] = node;
  unit.nodes.push(node);
  return true;
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
  return new ContextBook(path).units.flatMap(({ nodes }) => nodes);
}

// Which units a request takes when not all fit: the newest, whole, and a note of what was asked in those that are omitted.

export interface ContextPlan {
  readonly kept: readonly ContextUnit[];
  readonly omitted: readonly ContextUnit[];
  /** Goes before the kept ones; there whenever something is omitted. */
  readonly note?: string;
  readonly tokens: number;
}

/** Of one omitted message: an eighth of the budget, within these. */
const LEAST_NOTED_CHARS = 200;
const MOST_NOTED_CHARS = 4000;

/** The newest unit is kept even where it alone is too much: then the provider has the last word. */
export function planContext(
  units: readonly ContextUnit[],
  budgetTokens: number,
  all = units.reduce((sum, unit) => sum + estimateUnitTokens(unit), 0),
): ContextPlan {
  if (all <= budgetTokens || units.length < 2) return { kept: units, omitted: [], tokens: all };
  let tokens = all;
  for (let from = 1; ; from += 1) {
    // A summary stays where it is: it is all there is of what came before it.
    const before = units[from - 1];
    if (before !== undefined && before.kind !== "summary") tokens -= estimateUnitTokens(before);
    const isLast = from === units.length - 1;
    if (tokens > budgetTokens && !isLast) continue;
    const plan = planFrom(units, from, tokens, budgetTokens);
    if (plan.tokens <= budgetTokens || isLast) return plan;
  }
}

function planFrom(
  units: readonly ContextUnit[],
  from: number,
  tokens: number,
  budgetTokens: number,
): ContextPlan {
  const kept = units.filter((unit, i) => i >= from || unit.kind === "summary");
  const omitted = units.filter((unit, i) => i < from && unit.kind !== "summary");
  if (omitted.length === 0) return { kept, omitted, tokens };
  const eighth = Math.floor(budgetTokens / 2);
  const maxChars = Math.min(MOST_NOTED_CHARS, Math.max(LEAST_NOTED_CHARS, eighth));
  const asked = omitted.flatMap((unit) =>
    unit.kind === "user" ? [messageText(unit.nodes.flatMap(({ content }) => content))] : [],
  );
  const [first] = asked;
  const last = asked.length > 1 ? asked.at(-1) : undefined;
  const note = [
    `Earlier messages (${omitted.length}) were omitted, because they do not fit.`,
    ...(first === undefined ? [] : [`The task, as first asked: ${cutMiddle(first, maxChars)}`]),
    ...(last === undefined ? [] : [`Last asked in them: ${cutMiddle(last, maxChars)}`]),
  ].join("\n\n");
  return { kept, omitted, note, tokens: tokens + estimateTextTokens(note) };
}

// How many tokens something is, roughly: characters over four. Prose and code are within a third of that; scripts with a token
// a character, such as Chinese, are up to four times more.

export const TOKEN_ESTIMATE = {
  method: "characters / 4",
  error: "within a third for prose and code; up to four times too low for Chinese and the like",
} as const;

/** What providers count for an image of ordinary size; its bytes say nothing. */
const IMAGE_TOKENS = 1600;

/** Roles, ids and brackets around each message or result. */
const FRAME_TOKENS = 4;

export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function estimateUnitTokens(unit: ContextUnit): number {
  const model = unit.kind === "answer" ? unit.answer.model : "";
  const rendered = renderUnit(unit, model);
  if (rendered.tokens === -1) rendered.tokens = estimateMessageTokens(rendered.messages);
  return rendered.tokens;
}

export function estimateMessageTokens(messages: readonly ModelMessage[]): number {
  return sumTokens(messages, measureMessage);
}

/** A list that has not changed since the last request is the same one. */
const toolTokens = new WeakMap<readonly ModelTool[], number>();

export function estimateToolTokens(tools: readonly ModelTool[]): number {
  const known = toolTokens.get(tools);
  if (known !== undefined) return known;
  const tokens = sumTokens(tools, measureJson);
  toolTokens.set(tools, tokens);
  return tokens;
}

function measureMessage(message: ModelMessage): number {
  if (message.role === "user") return FRAME_TOKENS + measureContent(message.content);
  if (message.role === "tool") {
    return sumTokens(message.results, ({ content }) => FRAME_TOKENS + measureContent(content));
  }
  const { text, calls, provider_data: extra } = message;
  const sent = sumTokens(
    calls,
    (call) => FRAME_TOKENS + estimateTextTokens(call.name + call.arguments),
  );
  return FRAME_TOKENS + estimateTextTokens(text) + sent + (extra ? measureJson(extra) : 0);
}

function measureContent(content: readonly ContentBlock[]): number {
  return sumTokens(content, (block) => {
    if (block.type === "image") return IMAGE_TOKENS;
    // Only named to the model.
    if (isMediaBlock(block)) return FRAME_TOKENS;
    return block.type === "text" ? estimateTextTokens(block.text) : measureJson(block);
  });
}

function measureJson(value: object): number {
  return estimateTextTokens(JSON.stringify(value));
}

function sumTokens<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + measure(item), 0);
}
